"""Configuration in git: the workspace follows a repository, and its pages there become managed pages here.

Owns the copy of the repository in the home. ``git/`` is the git binary, safely, and knows nothing of pages. How front
matter is read is also for other features, whose pages are configuration.
"""

from svc.gitops.feature import FEATURE
from svc.gitops.front_matter import Node as FrontMatterNode
from svc.gitops.front_matter import Refused as FrontMatterRefused
from svc.gitops.front_matter import head_of as front_matter_head
from svc.gitops.front_matter import tree as front_matter_tree

__all__ = ["FEATURE", "FrontMatterNode", "FrontMatterRefused", "front_matter_head", "front_matter_tree"]
