"""The kinds of git errors, and how a failed call is classified and described.

The words are for an admin: a sentence of ours, then the end of git's message, limited in length, on one line and
without the credential. A remote's message is a stranger's text: it is shown as text, and decides only the kind.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Final, Literal

from svc.log import redact

GitFaultKind = Literal[
    "no_git",  # the program is missing
    "refused",  # the remote refuses the credential, or asks for one
    "unknown_host",  # by ssh
    "missing",  # there is no such repository
    "no_branch",
    "unreachable",  # no connection, or one that broke
    "redirected",
    "declined",  # by a rule of the remote: a hook, a protected branch
    "moved",  # the branch is not where the push expected it
    "hostile",  # objects that git itself refuses
    "damaged",  # the copy here can't be read any more
    "full",  # no room on the disk
    "too_large",
    "too_slow",
    "failed",  # anything else
]

SAID_CHARS: Final = 300
_REMOTE: Final = "remote: "


class GitFault(Exception):
    """``words`` are for an admin, and contain no credential."""

    def __init__(self, kind: GitFaultKind, words: str) -> None:
        super().__init__(words)
        self.kind: GitFaultKind = kind
        self.words = words


_SENTENCES: Final[dict[GitFaultKind, str]] = {
    "no_git": "Git can't be started: install it, and have it in PATH.",
    "refused": "The remote does not let us in: check the token (Settings > Credentials) or the ssh key, its rights and "
    "the user name.",
    "unknown_host": "The host's key is not the one we know, or none is known: put the right one into the file that "
    "SVC_GITOPS_SSH_KNOWN_HOSTS names.",
    "missing": "There is no repository at that address that we may see.",
    "no_branch": "The repository has no such branch.",
    "unreachable": "The remote can't be reached.",
    "redirected": "The remote sends us to another address, where the token must not go: set its new address.",
    "declined": "The remote does not take the change.",
    "moved": "The branch has moved on meanwhile.",
    "hostile": "The repository holds objects that git refuses.",
    "damaged": "The copy of the repository here is damaged.",
    "full": "There is no room left on the disk.",
    "too_large": "The repository is larger than a workspace follows.",
    "failed": "Git failed.",
}

# In order: the first match decides.
_SIGNS: Final[tuple[tuple[GitFaultKind, str], ...]] = (
    ("full", r"no space left on device|disk quota exceeded"),
    ("too_large", r"file size limit|file too large|signal 25|died of signal xfsz"),
    ("redirected", r"returned error: 30\d|unable to update url base from redirection"),
    ("unknown_host", r"host key verification failed"),
    (
        "refused",
        r"authentication failed|could not read (?:username|password)|returned error: 40[13]|permission denied"
        r"|invalid credentials|terminal prompts disabled|access denied|not authorized",
    ),
    ("no_branch", r"couldn't find remote ref|remote branch .* not found"),
    ("moved", r"non-fast-forward|fetch first|\[rejected\]|stale info|failed to update ref|cannot lock ref"),
    ("declined", r"hook declined|protected branch|remote rejected"),
    ("hostile", r"fsck error|error in object|unpack-objects failed|index-pack failed|remote did not send all"),
    (
        "missing",
        r"repository .* (?:not found|does not exist)|not appear to be a git repository|returned error: 404"
        r"|does not exist|not a git repository",
    ),
    (
        "unreachable",
        r"could not resolve|couldn't resolve|failed to connect|connection|timed out|timeout|returned error: (?:429|5)"
        r"|early eof|hung up|unexpected disconnect|network is unreachable|couldn't connect|empty reply|ssl|tls"
        r"|could not read from remote|protocol error|bad line length|invalid (?:server )?response|rpc failed",
    ),
    ("damaged", r"corrupt|bad object|missing (?:blob|tree|commit)|unable to read|invalid sha1 pointer"),
)


def too_large(at_most_bytes: int) -> GitFault:
    return GitFault("too_large", f"{_SENTENCES['too_large']} Git had more than {at_most_bytes} bytes to say.")


def too_slow(seconds: float) -> GitFault:
    return GitFault("too_slow", f"Git took longer than {seconds:g} seconds, and was ended.")


def lacks_program(why: str) -> GitFault:
    return GitFault("no_git", f"{_SENTENCES['no_git']} {_one_line(why)}")


def copy_is_gone(directory: Path) -> GitFault:
    return GitFault("damaged", f"{_SENTENCES['damaged']} There is nothing at {directory}.")


def fault_of(status: int, complaint: bytes, *, secret: str | None, directory: Path) -> GitFault:
    """The fault of a call that ended with ``status`` (negative: by that signal) and this error output; ``directory`` is
    our copy."""
    text = complaint.decode(errors="replace")
    if secret:
        text = text.replace(secret, "********")
    if f"not a git repository: '{directory}'" in text:
        return copy_is_gone(directory)
    said = _one_line(redact(_what_the_remote_says(text) or text))
    if status == 127:
        return lacks_program(said)
    if status in {-signal.SIGXFSZ, 128 + signal.SIGXFSZ}:
        return GitFault("too_large", _SENTENCES["too_large"])
    kind: GitFaultKind = next((kind for kind, sign in _SIGNS if re.search(sign, text, re.IGNORECASE)), "failed")
    return GitFault(kind, f"{_SENTENCES[kind]} Git says: {said or f'nothing, and ends with status {status}'}")


def _what_the_remote_says(text: str) -> str:
    """The remote's reason for a refused push, in the words of a hook or a forge. Git's own lines after it only say that
    it was refused."""
    if "remote rejected" not in text:
        return ""
    return " ".join(line.removeprefix(_REMOTE) for line in text.splitlines() if line.startswith(_REMOTE))


def _one_line(text: str) -> str:
    """The end of the text, which has git's own message, as one printable line."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= SAID_CHARS else f"…{line[-SAID_CHARS:]}"
