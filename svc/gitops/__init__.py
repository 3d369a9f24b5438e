"""Configuration in git: the workspace follows a repository, and the pages of the repository become managed pages here.

Owns the copy of the repository in the home. ``git/`` runs the git binary safely, and knows nothing of pages. Other
features whose pages are configuration also use the reading of front matter.
"""

from svc.gitops.feature import FEATURE
from svc.gitops.front_matter import Node as FrontMatterNode
from svc.gitops.front_matter import Refused as FrontMatterRefused
from svc.gitops.front_matter import head_of as front_matter_head
from svc.gitops.front_matter import tree as front_matter_tree
from svc.gitops.front_matter_edit import quoted as front_matter_quoted
from svc.gitops.front_matter_edit import shown as front_matter_body
from svc.gitops.front_matter_edit import with_body as front_matter_with_body
from svc.gitops.front_matter_edit import with_key as front_matter_with_key
from svc.gitops.line_ends import in_lf as front_matter_in_lf

__all__ = [
    "FEATURE",
    "FrontMatterNode",
    "FrontMatterRefused",
    "front_matter_body",
    "front_matter_head",
    "front_matter_in_lf",
    "front_matter_quoted",
    "front_matter_tree",
    "front_matter_with_body",
    "front_matter_with_key",
]
