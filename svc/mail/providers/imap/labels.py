"""Servers that keep labels, and show them in IMAP as folders (``X-GM-EXT-1``).

There a message is in one of three folders: all mail, spam or trash. Only these three are read, so each message comes
once; its labels come beside its flags (``X-GM-LABELS``). The server gives each message and each thread an id of its
own. That id stays the same when the message is moved, and when a folder gets new UIDs.

A label's name is the name of its folder, in the same encoding (modified UTF-7). Our id of a label keeps the server's
own bytes, so the server gets back exactly what it sent. A name that begins with a backslash is a system label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.mail.model import DRAFT, IMPORTANT, INBOX, SENT, SPAM, TRASH
from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap.protocol.names import shown_name, written_name
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.protocol.writing import Plain, Text, Word
from svc.mail.providers.imap.roles import Place

ABILITY: Final = "X-GM-EXT-1"
OWN: Final = "label/"
"""The prefix of the ids of labels that a user made."""
HIDDEN: Final = (
    "The mail server hides its folder of all mail. In the settings of your mail provider, under Labels, let All Mail "
    "be shown in IMAP; Spam and Trash, too."
)

_FOLDERS: Final = {"\\all": ARCHIVE, "\\junk": SPAM, "\\trash": TRASH}
_SYSTEM: Final = {
    b"\\inbox": INBOX,
    b"\\important": IMPORTANT,
    b"\\sent": SENT,
    b"\\draft": DRAFT,
    b"\\drafts": DRAFT,
}
_WRITTEN: Final = {INBOX: "\\Inbox", IMPORTANT: "\\Important"}
"""The system labels that a client may add and remove. Only the server decides which mail is sent, or a draft."""
_NO_LABELS: Final = frozenset({"\\noselect", "\\nonexistent"})


def places(folders: Iterable[Folder]) -> list[Place]:
    """The folders that hold messages, all mail first."""
    found: dict[str, Place] = {}
    for one in folders:
        for use in sorted(one.attributes & _FOLDERS.keys()):
            place = Place(name=one.name, label=_FOLDERS[use], shown=shown_name(one.name))
            found.setdefault(place.label, place)
    return sorted(found.values(), key=lambda one: one.label != ARCHIVE)


def folder_for(folders: Iterable[Folder], use: str) -> bytes | None:
    """The name of the folder with an attribute, such as ``\\sent``."""
    return next((one.name for one in folders if use in one.attributes), None)


def own_labels(folders: Iterable[Folder]) -> dict[str, str]:
    """The users' labels among the listed folders: their names by their ids."""
    return {
        OWN + one.name.decode("latin-1"): shown_name(one.name)
        for one in folders
        if one.name.upper() != b"INBOX" and not one.attributes & _NO_LABELS and not _has_use(one)
    }


def label_of(word: bytes) -> str | None:
    """The label id of one of the server's words; ``None`` for words without a meaning here. A star is a flag."""
    if word.startswith(b"\\"):
        return _SYSTEM.get(word.lower())
    return OWN + word.decode("latin-1") if word else None


def labels_in(words: Iterable[bytes]) -> frozenset[str]:
    return frozenset(label for label in map(label_of, words) if label is not None)


def is_starred(words: Iterable[bytes]) -> bool:
    """Whether a label says so. Some servers use it beside the flag, or instead of it."""
    return any(word.lower() == b"\\starred" for word in words)


def word_of(label: str) -> Word | None:
    """The word for a label in a command; ``None`` for labels that are not sent to the server."""
    if label.startswith(OWN):
        return Text(label.removeprefix(OWN).encode("latin-1"))
    return Plain(_WRITTEN[label]) if label in _WRITTEN else None


def name_of(label: str) -> str:
    return shown_name(label.removeprefix(OWN).encode("latin-1"))


def new_label(name: str) -> str:
    """The id of a new label. Slashes in its name are levels, as at the server."""
    return OWN + written_name(name).decode("ascii")


def _has_use(folder: Folder) -> bool:
    """Whether a folder is a system folder: these have an attribute of RFC 6154 (or ``\\Important``). A user's label
    only has attributes that say whether there are labels below it."""
    return bool(folder.attributes & _USES)


_USES: Final = frozenset(
    {"\\all", "\\archive", "\\drafts", "\\flagged", "\\important", "\\inbox", "\\junk", "\\sent", "\\starred"}
    | {"\\trash"}
)
