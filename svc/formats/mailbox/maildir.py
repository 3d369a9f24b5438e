"""Maildir: one file per mail, in ``cur`` and ``new``, with its flags after ``:2,`` in its name; folders as
``.Name.Below``, in the modified UTF-7 of IMAP."""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final
from unicodedata import normalize

from svc.formats.mailbox import takeout, utf7
from svc.formats.mailbox.marks import DRAFT, MAX_LABEL_CHARS, STARRED, UNREAD, Marks

HOLDS_MAIL: Final = frozenset({"cur", "new"})
INBOX: Final = "INBOX"


def folder_of(path: PurePosixPath) -> str | None:
    """The folder of a file in a Maildir, by its path below the root; ``None`` if the file is no mail.

    The root is :data:`INBOX`. ``.Work.2024`` and ``Work/2024`` are both ``Work/2024``, and ``.Entw&APw-rfe`` is
    ``Entwürfe``.
    """
    if len(path.parts) < 2 or path.parts[-2] not in HOLDS_MAIL or path.name.startswith("."):
        return None
    names = [name for part in path.parts[:-2] for name in part.strip(".").split(".") if part.startswith(".")]
    plain = [part for part in path.parts[:-2] if not part.startswith(".")]
    return "/".join(filter(None, map(_shown, [*plain, *names]))) or INBOX


def _shown(name: str) -> str:
    """A name that no program has encoded, such as ``R&D-2024``, is as it is shown."""
    with suppress(ValueError):
        read = utf7.decoded(name)
        if utf7.encoded(read) == name:
            name = read
    return utf7.without_controls(name)


def flags_of(name: str) -> frozenset[str] | None:
    """The flags in a file's name; ``None`` if it has none."""
    for mark in (":2,", ";2,", "!2,", "\uf0222,"):  # other marks are for file systems without colons
        if mark in name:
            return frozenset(name.rpartition(mark)[2])
    return None


def flags_for(system: frozenset[str]) -> str:
    """The flags in the order that the format requires."""
    has = {"D": DRAFT in system, "F": STARRED in system, "S": UNREAD not in system, "T": "TRASH" in system}
    return "".join(flag for flag, is_set in has.items() if is_set)


def with_flags(marks: Marks, flags: frozenset[str] | None, *, is_new: bool) -> Marks:
    """The marks of a mail, with the flags in its file's name: mail programs change names, but not the mails
    themselves."""
    if flags is None:
        flags = frozenset() if is_new else frozenset("S")
    told = {UNREAD: "S" not in flags, STARRED: "F" in flags}
    system = (marks.system - told.keys()) | {label for label, is_set in told.items() if is_set}
    if not marks.said_labels:
        system |= {label for flag, label in (("D", DRAFT), ("T", "TRASH")) if flag in flags}
    return Marks(system=system, own=marks.own, said_labels=marks.said_labels, is_deleted=marks.is_deleted)


def label_name(folder: str) -> str:
    """A folder's name as a label: as one line of text, not too long, and in one form (a Mac writes another one).
    Names of files are bytes, which may be no text."""
    text = folder.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return utf7.without_controls(normalize("NFC", text))[:MAX_LABEL_CHARS]


def in_folder(marks: Marks, folder: str) -> Marks:
    """The marks with the folder's label, if the mail itself names none: a system label, or a label of the user."""
    if marks.said_labels or not folder:
        return marks
    folder = label_name(folder)
    label = takeout.label_of(folder)
    if label is None:
        return Marks(system=marks.system, own=(*marks.own, folder), is_deleted=marks.is_deleted)
    system = marks.system | ({label} if label and label not in {UNREAD, STARRED} else set())
    return Marks(system=system, own=marks.own, is_deleted=marks.is_deleted)
