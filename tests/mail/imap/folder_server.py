"""A mail server in memory that keeps each message in one folder, as most do: IMAP4rev1 with UIDPLUS, and what more it
is said to be able to.

What other programs do there can happen between any two commands (``between``). Who has a folder open that is numbered
anew meanwhile finds nothing in it any more, as at Dovecot.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import trio

from tests.mail.imap.label_server import is_in, words_of
from tests.mail.imap.scripted_server import Wire

PLAIN: Final = "IMAP4rev1 SASL-IR AUTH=PLAIN UIDPLUS SPECIAL-USE LITERAL+"
MOVING: Final = f"{PLAIN} MOVE ESEARCH"
COUNTING: Final = f"{MOVING} CONDSTORE ENABLE UNSELECT"
USES: Final = {"Archive": "\\Archive", "Sent": "\\Sent", "Drafts": "\\Drafts", "Junk": "\\Junk", "Trash": "\\Trash"}


@dataclass(kw_only=True)
class Kept:
    raw: bytes
    uid: int
    modseq: int
    flags: set[str] = field(default_factory=set)


@dataclass(kw_only=True)
class Box:
    validity: int = 1
    uid_next: int = 1
    mails: list[Kept] = field(default_factory=list)


def _nothing() -> None:
    return None


@dataclass(kw_only=True)
class FolderServer:
    """``tells_copyuid``: whether a copy and a move say the new UIDs. ``adds``: a header line that it gives to each
    message that is appended. Where it does not ``answers_append``, it hangs up instead."""

    able: str = PLAIN
    namespaces: list[str] = field(default_factory=list)
    """What it says when it is asked for them, each once."""
    tells_copyuid: bool = True
    adds: bytes = b""
    answers_append: bool = True
    searches_headers: bool = True
    closed: set[str] = field(default_factory=set)
    """The folders that are listed and can't be opened."""
    boxes: dict[str, Box] = field(default_factory=lambda: {name: Box() for name in ("INBOX", *USES, "Boats")})
    between: Callable[[], None] = _nothing
    heard: list[str] = field(default_factory=list)
    _modseq: int = 100

    # What happens there

    def deliver(self, box: str, raw: bytes, *flags: str) -> int:
        crlf = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        return self._put(self.boxes[box], crlf, set(flags))

    def uid(self, box: str, subject: str) -> int:
        (found,) = (one.uid for one in self.boxes[box].mails if subject_of(one.raw) == subject)
        return found

    def subjects(self, box: str) -> list[str]:
        return [subject_of(one.raw) for one in self.boxes[box].mails]

    def text(self, box: str, subject: str) -> bytes:
        (found,) = (one.raw for one in self.boxes[box].mails if subject_of(one.raw) == subject)
        return found

    def move(self, box: str, subject: str, target: str) -> None:
        self._move(self.boxes[box], [self.uid(box, subject)], target)

    def delete(self, box: str, subject: str) -> None:
        uid = self.uid(box, subject)
        self.boxes[box].mails = [one for one in self.boxes[box].mails if one.uid != uid]

    def flag(self, box: str, subject: str, flag: str) -> None:
        (mail,) = (one for one in self.boxes[box].mails if subject_of(one.raw) == subject)
        mail.flags ^= {flag}
        mail.modseq = self._touched()

    def number_anew(self, box: str) -> None:
        """As if it were restored from elsewhere."""
        before = self.boxes[box]
        self.boxes[box] = Box(validity=before.validity + 1, uid_next=before.uid_next)
        for mail in reversed(before.mails):
            self._put(self.boxes[box], mail.raw, mail.flags)

    # IMAP

    async def serve(self, wire: Wire) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._serve(wire)
        await wire.stream.aclose()

    async def _serve(self, wire: Wire) -> None:
        await wire.say(f"* OK [CAPABILITY {self.able}] ready")
        opened: Box | None = None
        while (line := await wire.line()) is not None:
            tag, _, command = line.partition(" ")
            self.heard.append(command)
            command, _, literal = command.partition(" {")
            words = words_of(command)
            self.between()
            done, said = "OK", list[bytes]()
            name = words[0].upper()
            if name in {"SELECT", "EXAMINE"} and words[1] in self.closed:
                done, opened = "NO", None
            elif name in {"SELECT", "EXAMINE"}:
                opened = self.boxes[words[1]]
                said = self._select(opened)
            elif name == "APPEND":
                done = self._append(words[1], await wire.taken(int(literal.rstrip("+}"))), set(words[3:-1]))
                await wire.line()
                if not self.answers_append:
                    return
            elif name == "UID":
                is_there = any(one is opened for one in self.boxes.values())
                said, done = self._uid_command(opened if opened is not None and is_there else Box(), words)
            elif name == "NAMESPACE" and (answer := self.namespaces.pop(0)) in {"NO", "BAD"}:
                done = answer
            elif name == "NAMESPACE":
                said = [] if answer == "nothing" else [f"* NAMESPACE {answer}".encode()]
            else:
                said = self._told(words)
            await wire.stream.send_all(b"".join(one + b"\r\n" for one in said))
            await wire.say(f"{tag} {done} done")

    def _told(self, words: list[str]) -> list[bytes]:
        if words[0].upper() == "CAPABILITY":
            return [f"* CAPABILITY {self.able}".encode()]
        if words[0].upper() == "LIST":
            return [f'* LIST ({USES.get(name, "")}) "/" "{name}"'.encode() for name in self.boxes]
        if words[0].upper() == "STATUS":
            box = self.boxes[words[1]]
            items = f"MESSAGES {len(box.mails)} UIDNEXT {box.uid_next} UIDVALIDITY {box.validity}"
            modseq = f" HIGHESTMODSEQ {self._highest(box)}" if "CONDSTORE" in self.able else ""
            return [f'* STATUS "{words[1]}" ({items}{modseq})'.encode()]
        return []

    def _select(self, box: Box) -> list[bytes]:
        codes = [f"UIDVALIDITY {box.validity}", f"UIDNEXT {box.uid_next}", "PERMANENTFLAGS (\\Seen \\Flagged \\*)"]
        if "CONDSTORE" in self.able:
            codes.append(f"HIGHESTMODSEQ {self._highest(box)}")
        return [f"* {len(box.mails)} EXISTS".encode(), *(f"* OK [{one}] ok".encode() for one in codes)]

    def _uid_command(self, box: Box, words: list[str]) -> tuple[list[bytes], str]:
        name = words[1].upper()
        if name == "SEARCH" and "HEADER" in words:
            if not self.searches_headers:
                return [], "BAD Unknown search key"
            found = [one.uid for one in box.mails if f"{words[-2]}: {words[-1]}\r\n".encode() in one.raw]
            return [f"* SEARCH {' '.join(map(str, found))}".strip().encode()], "OK"
        if name == "SEARCH":
            some = [one for one in box.mails if words[-1] != "DELETED" or "\\Deleted" in one.flags]
            found = [one.uid for one in some if is_in(one.uid, words[words.index("UID", 1) + 1])]
            if "RETURN" in words:
                among = f" ALL {','.join(map(str, found))}" if found else ""
                return [f'* ESEARCH (TAG "x") UID{among}'.encode()], "OK"
            return [f"* SEARCH {' '.join(map(str, found))}".strip().encode()], "OK"
        some = [one for one in box.mails if is_in(one.uid, words[2])]
        if name == "FETCH":
            asked = " ".join(words[3:])
            since = int(asked.partition("CHANGEDSINCE ")[2].split()[0]) if "CHANGEDSINCE" in asked else 0
            return [_fetched(number, one, asked) for number, one in enumerate(some, 1) if one.modseq > since], "OK"
        if name == "STORE":
            for one in some:
                one.flags = one.flags | set(words[5:-1]) if words[3].startswith("+") else one.flags - set(words[5:-1])
                one.modseq = self._touched()
            return [], "OK"
        if name == "EXPUNGE":
            gone = {one.uid for one in some if "\\Deleted" in one.flags}
            box.mails = [one for one in box.mails if one.uid not in gone]
            return [], "OK"
        assert name in {"COPY", "MOVE"}, words
        target, uids = self.boxes[words[3]], [one.uid for one in some]
        new = [self._put(target, one.raw, one.flags) for one in some]
        if name == "MOVE":
            box.mails = [one for one in box.mails if one.uid not in uids]
        told = f"OK [COPYUID {target.validity} {','.join(map(str, uids))} {','.join(map(str, new))}]"
        return [], told if new and self.tells_copyuid else "OK"

    def _append(self, box: str, raw: bytes, flags: set[str]) -> str:
        uid = self._put(self.boxes[box], self.adds + raw, flags)
        return f"OK [APPENDUID {self.boxes[box].validity} {uid}]"

    def _move(self, box: Box, uids: list[int], target: str) -> None:
        for one in [one for one in box.mails if one.uid in uids]:
            box.mails.remove(one)
            self._put(self.boxes[target], one.raw, one.flags)

    def _put(self, box: Box, raw: bytes, flags: set[str]) -> int:
        uid, box.uid_next = box.uid_next, box.uid_next + 1
        box.mails.append(Kept(raw=raw, uid=uid, modseq=self._touched(), flags=set(flags) - {"\\Deleted"}))
        return uid

    def _highest(self, box: Box) -> int:
        return max((1, *(one.modseq for one in box.mails)), default=1) if box.mails else self._modseq

    def _touched(self) -> int:
        self._modseq += 1
        return self._modseq


def subject_of(raw: bytes) -> str:
    return raw.partition(b"Subject: ")[2].partition(b"\r\n")[0].decode()


def _fetched(number: int, mail: Kept, asked: str) -> bytes:
    items = [f"UID {mail.uid} FLAGS ({' '.join(sorted(mail.flags))}) MODSEQ ({mail.modseq})".encode()]
    if "INTERNALDATE" in asked:
        items.append(b'INTERNALDATE "05-Nov-2026 10:00:00 +0000"')
    if "RFC822.SIZE" in asked:
        items.append(f"RFC822.SIZE {len(mail.raw)}".encode())
    if "HEADER" in asked:
        head = mail.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        items.append(b"BODY[HEADER.FIELDS (MESSAGE-ID)] {%d}\r\n" % len(head) + head)
    if "BODY.PEEK[]" in asked:
        items.append(b"BODY[] {%d}\r\n" % len(mail.raw) + mail.raw)
    return b"* %d FETCH (" % number + b" ".join(items) + b")"
