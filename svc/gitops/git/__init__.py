"""Runs the git binary safely, without knowledge of pages: one bare repository in the home, and the remote that it
follows.

Theory. A repository is a stranger's input, and so is the remote. Nothing is ever checked out; no hook, filter,
submodule or helper of theirs runs. Each call has a deadline, a limit on its output and a limit on the files it may
write. Only ``child.py`` starts git; ``mirror.py`` and ``reading.py`` read its output.
"""

from svc.gitops.git.child import Git, GitFault, GitFaultKind, Remote
from svc.gitops.git.mirror import UPSTREAM, Mirror
from svc.gitops.git.reading import Entry, TooMuch, blob, blobs, entries_of, top_entries

__all__ = [
    "UPSTREAM",
    "Entry",
    "Git",
    "GitFault",
    "GitFaultKind",
    "Mirror",
    "Remote",
    "TooMuch",
    "blob",
    "blobs",
    "entries_of",
    "top_entries",
]
