"""Servers that keep labels, and show them by IMAP as folders (``X-GM-EXT-1``).

There a message lies in one of three folders: all mail, spam or trash. Those three are read, each message once, and what
it carries is told beside its flags (``X-GM-LABELS``). The server gives each message and each thread a number of its
own, which stays wherever the message goes and however often a folder is numbered anew.

A label's name is the name of its folder, in the same letters (modified UTF-7): the id here keeps the server's own
bytes, so what is written back is what came. A name that begins with a backslash is one of the system's.
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
"""So begin the ids of the labels that a person made."""
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
"""What a client may add and take away; which mail is sent, or a draft, is the server's word."""
_NO_LABELS: Final = frozenset({"\\noselect", "\\nonexistent"})


def places(folders: Iterable[Folder]) -> list[Place]:
    """The folders that messages lie in, that of all mail first."""
    found: dict[str, Place] = {}
    for one in folders:
        for use in sorted(one.attributes & _FOLDERS.keys()):
            place = Place(name=one.name, label=_FOLDERS[use], shown=shown_name(one.name))
            found.setdefault(place.label, place)
    return sorted(found.values(), key=lambda one: one.label != ARCHIVE)


def folder_for(folders: Iterable[Folder], use: str) -> bytes | None:
    """The name of the folder of a use, such as ``\\sent``."""
    return next((one.name for one in folders if use in one.attributes), None)


def own_labels(folders: Iterable[Folder]) -> dict[str, str]:
    """The names of the labels that are listed as folders, by their ids."""
    return {
        OWN + one.name.decode("latin-1"): shown_name(one.name)
        for one in folders
        if one.name.upper() != b"INBOX" and not one.attributes & _NO_LABELS and not _has_use(one)
    }


def label_of(word: bytes) -> str | None:
    """``None`` for those that mean nothing here. A star is a flag."""
    if word.startswith(b"\\"):
        return _SYSTEM.get(word.lower())
    return OWN + word.decode("latin-1") if word else None


def labels_in(words: Iterable[bytes]) -> frozenset[str]:
    return frozenset(label for label in map(label_of, words) if label is not None)


def is_starred(words: Iterable[bytes]) -> bool:
    """Some tell it so, beside the flag or in its place."""
    return any(word.lower() == b"\\starred" for word in words)


def word_of(label: str) -> Word | None:
    """As the server is told of it; ``None`` for what it is not told."""
    if label.startswith(OWN):
        return Text(label.removeprefix(OWN).encode("latin-1"))
    return Plain(_WRITTEN[label]) if label in _WRITTEN else None


def name_of(label: str) -> str:
    return shown_name(label.removeprefix(OWN).encode("latin-1"))


def new_label(name: str) -> str:
    """The id of one that is to be made; the slashes in its name are steps, as the server has them, too."""
    return OWN + written_name(name).decode("ascii")


def _has_use(folder: Folder) -> bool:
    """Folders of the system bear an attribute of RFC 6154 (or ``\\Important``); labels only say whether there are more
    below them."""
    return bool(folder.attributes & _USES)


_USES: Final = frozenset(
    {"\\all", "\\archive", "\\drafts", "\\flagged", "\\important", "\\inbox", "\\junk", "\\sent", "\\starred"}
    | {"\\trash"}
)
