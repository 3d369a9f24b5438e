"""Configuration in git: the workspace follows a repository, and its pages there become managed pages here.

Owns the copy of the repository in the home. ``git/`` is the git binary, safely, and knows nothing of pages.
"""

from svc.gitops.feature import FEATURE

__all__ = ["FEATURE"]
