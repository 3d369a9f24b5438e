"""A mail server in memory that keeps labels, as Google documents its own (``X-GM-EXT-1``), and sends mail by SMTP.

Each message lies in all mail, spam or trash, under a UID of that folder; its own number and its thread's stay. What it
carries is told in every form that IMAP has for it: atoms, quoted strings, literals.
"""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.values import values
from svc.mail.providers.imap.servers import MailServer
from tests.mail.imap.scripted_server import ScriptedDialler, Wire

ALL, SPAM_BOX, TRASH_BOX = "[Gmail]/Alle Nachrichten", "[Gmail]/Spam", "[Gmail]/Papierkorb"
ABLE = (
    "IMAP4rev1 SASL-IR AUTH=PLAIN UIDPLUS MOVE CONDSTORE ENABLE ESEARCH LITERAL- SPECIAL-USE LIST-EXTENDED X-GM-EXT-1"
)
FOLDERS = {
    "INBOX": "\\HasNoChildren",
    "[Gmail]": "\\HasChildren \\Noselect",
    ALL: "\\All \\HasNoChildren",
    "[Gmail]/Entw&APw-rfe": "\\Drafts \\HasNoChildren",
    "[Gmail]/Gesendet": "\\HasNoChildren \\Sent",
    "[Gmail]/Markiert": "\\Flagged \\HasNoChildren",
    "[Gmail]/Wichtig": "\\HasNoChildren \\Important",
    SPAM_BOX: "\\HasNoChildren \\Junk",
    TRASH_BOX: "\\HasNoChildren \\Trash",
}


@dataclass(kw_only=True)
class Kept:
    number: int
    thread: int
    raw: bytes
    box: str
    uid: int
    modseq: int
    labels: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)


@dataclass(kw_only=True)
class LabelServer:
    """``tells_copyuid``: whether a move says the new UIDs."""

    chance: random.Random
    password: str = "abcd efgh ijkl mnop"
    mails: list[Kept] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    hidden: frozenset[str] = frozenset()
    validity: int = 1
    tells_copyuid: bool = True
    able: str = ABLE
    heard: list[str] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    _modseq: int = 100
    _uid: int = 0
    _number: int = 1_278_455_344_230_334_864

    # What happens there

    def deliver(
        self, raw: bytes, *labels: str, box: str = ALL, flags: set[str] | None = None, thread: int | None = None
    ) -> Kept:
        self._number += 1
        self.own += [one for one in labels if not one.startswith("\\") and one not in self.own]
        mail = Kept(
            number=self._number,
            thread=thread or self._number,
            raw=raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
            box=box,
            uid=self._next_uid(),
            modseq=self._touched(),
            labels=set(labels),
            flags=flags or set(),
        )
        self.mails.append(mail)
        return mail

    def find(self, subject: str) -> Kept:
        (found,) = (one for one in self.mails if f"Subject: {subject}\r\n".encode() in one.raw)
        return found

    def relabel(self, subject: str, *, add: str = "", remove: str = "") -> None:
        mail = self.find(subject)
        mail.labels = (mail.labels | {add}) - {remove, ""}
        mail.modseq = self._touched()

    def number_anew(self) -> None:
        self.validity += 1
        self.chance.shuffle(self.mails)
        for mail in self.mails:
            mail.uid = self._next_uid()

    # IMAP

    async def serve(self, wire: Wire) -> None:
        await wire.say(f"* OK [CAPABILITY {self.able}] Gimap ready")
        opened = ""
        while (line := await wire.line()) is not None:
            tag, _, command = line.partition(" ")
            if command.startswith("APPEND"):
                command = await self._whole(wire, command)
            self.heard.append(command)
            words = words_of(command)
            name = words[0].upper()
            if name == "AUTHENTICATE":
                said, done = [], "OK" if self._knows(words[2]) else "NO [AUTHENTICATIONFAILED] Invalid credentials"
            elif name in {"SELECT", "EXAMINE"}:
                opened = words[1]
                said, done = self._select(opened), "OK"
            elif name == "UID":
                said, done = self._uid_command(opened, words)
            else:
                said, done = self._told(name, words)
            await wire.stream.send_all(b"".join(one + b"\r\n" for one in said))
            await wire.say(f"{tag} {done} done")

    def _knows(self, answer: str) -> bool:
        return base64.b64decode(answer).decode() == f"\0mia@gmail.test\0{self.password}"

    def _told(self, name: str, words: list[str]) -> tuple[list[bytes], str]:
        if name == "CAPABILITY":
            return [f"* CAPABILITY {self.able}".encode()], "OK"
        if name == "LIST":
            boxes = {**FOLDERS, **dict.fromkeys(self.own, "\\HasNoChildren")}
            shown = (one for one in boxes.items() if one[0] not in self.hidden)
            return [f'* LIST ({use}) "/" '.encode() + self._written(box) for box, use in shown], "OK"
        if name == "STATUS":
            there = self._in(words[1])
            items = f"MESSAGES {len(there)} UIDNEXT {self._uid + 1} UIDVALIDITY {self.validity}"
            return [f'* STATUS "{words[1]}" ({items} HIGHESTMODSEQ {self._highest(words[1])})'.encode()], "OK"
        if name == "CREATE":
            self.own.append(words[1])
        return [], "OK"

    def _select(self, box: str) -> list[bytes]:
        codes = (
            f"UIDVALIDITY {self.validity}",
            f"UIDNEXT {self._uid + 1}",
            f"HIGHESTMODSEQ {self._highest(box)}",
            "PERMANENTFLAGS (\\Seen \\Flagged \\Deleted \\*)",
        )
        return [f"* {len(self._in(box))} EXISTS".encode(), *(f"* OK [{one}] ok".encode() for one in codes)]

    def _uid_command(self, box: str, words: list[str]) -> tuple[list[bytes], str]:
        name = words[1].upper()
        if name == "SEARCH":
            found = [one for one in self._in(box) if self._matches(one, words)]
            uids = ",".join(str(one.uid) for one in found)
            if "RETURN" in words:
                return [f'* ESEARCH (TAG "x") UID{f" ALL {uids}" if uids else ""}'.encode()], "OK"
            return [f"* SEARCH {uids.replace(',', ' ')}".strip().encode()], "OK"
        some = [one for one in self._in(box) if is_in(one.uid, words[2])]
        if name == "FETCH":
            since = re.search(r"CHANGEDSINCE (\d+)", " ".join(words))
            asked = " ".join(words[3:])
            return [self._fetched(one, asked) for one in some if since is None or one.modseq > int(since[1])], "OK"
        if name == "STORE":
            for one in some:
                self._store(one, words[3].upper(), set(words[5:-1]))
            return [], "OK"
        assert name == "MOVE", words
        return self._move(some, words[3])

    def _matches(self, mail: Kept, words: list[str]) -> bool:
        if words[-1] == "DELETED":
            return "\\Deleted" in mail.flags
        return str(mail.number) == words[-1] if "X-GM-MSGID" in words else is_in(mail.uid, words[-1])

    def _store(self, mail: Kept, item: str, changed: set[str]) -> None:
        held = mail.labels if "LABELS" in item else mail.flags
        if item.startswith("+"):
            held |= changed
            self.own += [one for one in changed if not one.startswith("\\") and one not in self.own]
        else:
            held -= changed
        mail.modseq = self._touched()

    def _move(self, some: list[Kept], target: str) -> tuple[list[bytes], str]:
        before = ",".join(str(one.uid) for one in some)
        for one in some:
            one.box, one.uid, one.modseq = target, self._next_uid(), self._touched()
            one.labels -= {"\\Inbox"}
        after = ",".join(str(one.uid) for one in some)
        return [], f"OK [COPYUID {self.validity} {before} {after}]" if self.tells_copyuid else "OK"

    def _fetched(self, mail: Kept, asked: str) -> bytes:
        starred = {"\\Starred"} if "\\Flagged" in mail.flags else set()
        items = [f"UID {mail.uid} FLAGS ({' '.join(sorted(mail.flags))}) MODSEQ ({mail.modseq})".encode()]
        if "X-GM-LABELS" in asked:
            words = b" ".join(self._written(one) for one in sorted(mail.labels | starred))
            items.append(b"X-GM-LABELS (" + words + b")")
        if "X-GM-MSGID" in asked:
            items.append(f"X-GM-MSGID {mail.number} X-GM-THRID {mail.thread}".encode())
        if "INTERNALDATE" in asked:
            items.append(f'INTERNALDATE "05-Nov-2026 10:00:{mail.number % 60:02} +0000"'.encode())
        if "RFC822.SIZE" in asked:
            items.append(f"RFC822.SIZE {len(mail.raw)}".encode())
        if "HEADER" in asked:
            head = mail.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
            items.append(b"BODY[HEADER.FIELDS (MESSAGE-ID)] {%d}\r\n" % len(head) + head)
        if "BODY.PEEK[]" in asked:
            items.append(b"BODY[] {%d}\r\n" % len(mail.raw) + mail.raw)
        return b"* 1 FETCH (" + b" ".join(items) + b")"

    def _written(self, label: str) -> bytes:
        word = label.encode()
        quoted = b'"' + re.sub(rb'(["\\])', rb"\\\1", word) + b'"'
        forms = [quoted, b"{%d}\r\n" % len(word) + word]
        if re.fullmatch(r'\\?[^\s()"\\\[\]{}%*]+', label) and label.upper() != "NIL":
            forms.append(word)
        return self.chance.choice(forms)

    async def _whole(self, wire: Wire, command: str) -> str:
        size = int(command.rpartition("{")[2].rstrip("+}"))
        if not command.endswith("+}"):
            await wire.say("+ go on")
        while len(wire.came) < size + 2:
            wire.came += await wire.stream.receive_some(4096)
        raw = bytes(wire.came[:size])
        del wire.came[: size + 2]
        self.deliver(raw, "\\Sent", flags={"\\Seen"})
        return command

    def _in(self, box: str) -> list[Kept]:
        if box == "INBOX":
            return [one for one in self.mails if "\\Inbox" in one.labels]
        return sorted((one for one in self.mails if one.box == box), key=lambda one: one.uid)

    def _highest(self, box: str) -> int:
        return max((self._modseq, *(one.modseq for one in self._in(box))))

    def _touched(self) -> int:
        self._modseq += 1
        return self._modseq

    def _next_uid(self) -> int:
        self._uid += 1
        return self._uid

    # SMTP

    async def submit(self, wire: Wire) -> None:
        """What is sent is filed as sent at once."""
        await wire.say("220 smtp ready")
        while (line := await wire.line()) is not None:
            name = line.partition(" ")[0].upper()
            if name == "EHLO":
                await wire.say("250-smtp", "250-AUTH PLAIN", "250-8BITMIME", "250 SIZE 35000000")
            elif name == "AUTH":
                await wire.say("235 in" if self._knows(line.split()[2]) else "535 5.7.8 no")
            elif name == "DATA":
                await wire.say("354 go on")
                lines: list[str] = []
                while (one := await wire.line()) not in {".", None}:
                    lines.append(f"{one}\r\n")
                self.sent.append("".join(lines).encode())
                self.deliver(self.sent[-1], "\\Sent", flags={"\\Seen"})
                await wire.say("250 taken")
            else:
                await wire.say("221 bye" if name == "QUIT" else "250 ok")


@dataclass(kw_only=True)
class LabelDialler(ScriptedDialler):
    """Ports 993 and 465 of any host."""

    server: LabelServer

    async def open(self, server: MailServer) -> object:  # type: ignore[override]
        self.script = self.server.serve if server.port == 993 else self.server.submit
        return await super().open(server)


def dialler_for(server: LabelServer, nursery: object) -> Dialler:
    return LabelDialler(server=server, script=server.serve, nursery=nursery)  # type: ignore[arg-type]


def words_of(command: str) -> list[str]:
    """With parentheses as words of their own."""
    framer = Framer()
    framer.feed(f"* X {command}\r\n".encode())
    frame = framer.next()
    assert frame is not None
    return list(_flat(values((bytes(frame[0])[4:],))))  # type: ignore[arg-type]


def _flat(found: list[object]) -> Iterator[str]:
    for one in found:
        if isinstance(one, list):
            yield from ("(", *_flat(one), ")")
        else:
            yield "NIL" if one is None else bytes(one).decode()  # type: ignore[call-overload]


def is_in(uid: int, wanted: str) -> bool:
    ranges = [one.split(":") for one in wanted.split(",")]
    return any(int(one[0]) <= uid <= int(one[-1]) for one in ranges)
