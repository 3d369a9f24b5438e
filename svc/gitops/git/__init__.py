"""The git binary, safely, and nothing of pages: one bare repository in the home, and the remote that it follows.

Theory. A repository is a stranger's input, and so is the remote: nothing is ever checked out, no hook, filter,
submodule or helper of theirs runs, and each call has a deadline, a bound on its output and a bound on the files it may
write. ``child.py`` is the only place that starts git; what it prints is read by ``mirror.py`` and ``reading.py``.
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
