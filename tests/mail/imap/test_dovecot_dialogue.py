"""What Dovecot itself says, and what it makes of what we say, in one dialogue with all that we ask of a server."""

from __future__ import annotations

import random
import socket

import pytest

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.names import shown_name, written_name
from svc.mail.providers.imap.protocol.responses import (
    Capabilities,
    Enabled,
    Exists,
    Folder,
    FolderStatus,
    Found,
    GoOn,
    Response,
    State,
    Vanished,
    response,
)
from svc.mail.providers.imap.protocol.sets import UidSet
from svc.mail.providers.imap.protocol.writing import AtOnce, Bytes, Plain, Text, Word, written
from tests.chance import seeded
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot
from tests.peers.needs import DOVECOT, needs
from tests.sizes import examples

pytestmark = [pytest.mark.peer, needs(DOVECOT)]

STRANGE_NAME = 'Bücher "und" \\ & 日本'
MAIL = b"Message-ID: <one@mail.test>\r\nSubject: One\r\n\r\n" + b'(\r\n"{3}\r\n' + b"\xff\xfe\r\n" * 200


class Talk:
    """A dialogue over a plain socket; all bytes that came are kept."""

    def __init__(self, server: Dovecot) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.framer = Framer()
        self.came = bytearray()
        self.tags = 0
        self.read_until(lambda one: isinstance(one, State))

    def read_until(self, is_last: object) -> list[Response]:
        found: list[Response] = []
        assert callable(is_last)
        while True:
            while (frame := self.framer.next()) is not None:
                found.append(response(frame))
                if is_last(found[-1]):
                    return found
            data = self.socket.recv(65_536)
            assert data, found
            self.came += data
            self.framer.feed(data)

    def ask(self, *words: Word | str, at_once: AtOnce = "any") -> list[Response]:
        self.tags += 1
        tag = f"t{self.tags}"
        plain = [Plain(word) if isinstance(word, str) else word for word in words]
        *first, last = written(tag, plain, at_once=at_once)
        for piece in first:
            self.socket.sendall(piece)
            assert isinstance(self.read_until(lambda one: isinstance(one, GoOn | State))[-1], GoOn)
        self.socket.sendall(last)
        found = self.read_until(lambda one: isinstance(one, State) and one.tag == tag)
        done = found[-1]
        assert isinstance(done, State)
        assert done.outcome == "OK", done
        return found


def dialogue(server: Dovecot) -> bytes:
    """All that is asked of a server; returns all that it said."""
    talk = Talk(server)
    talk.ask("LOGIN", Text(ADDRESS.encode()), Text(PASSWORD.encode()), at_once="none")
    able, *_ = (one for one in talk.ask("CAPABILITY") if isinstance(one, Capabilities))
    assert able.names >= {"IMAP4REV1", "CONDSTORE", "QRESYNC", "MOVE", "UIDPLUS", "SPECIAL-USE", "ESEARCH"}
    assert Enabled(names=frozenset({"QRESYNC"})) in talk.ask("ENABLE", "QRESYNC")

    talk.ask("CREATE", Text(written_name(STRANGE_NAME)))
    folders = [
        one for one in talk.ask("LIST", Text(b""), Text(b"*"), "RETURN (SPECIAL-USE)") if isinstance(one, Folder)
    ]
    assert STRANGE_NAME in {shown_name(one.name) for one in folders}
    assert {"\\sent", "\\junk", "\\archive"} <= {use for one in folders for use in one.attributes}

    for at_once in ("any", "none", "small"):
        done = talk.ask("APPEND", Text(b"INBOX"), "(\\Seen $Work)", Bytes(MAIL), at_once=at_once)[-1]
        assert isinstance(done, State)
        assert done.code is not None
        assert done.code.name == "APPENDUID"

    opened = talk.ask("SELECT", Text(b"INBOX"))
    assert Exists(messages=3) in opened
    codes = {one.code.name: one.code for one in opened if isinstance(one, State) and one.code}
    assert {"UIDVALIDITY", "UIDNEXT", "HIGHESTMODSEQ", "PERMANENTFLAGS"} <= codes.keys()

    items = "(UID FLAGS INTERNALDATE RFC822.SIZE MODSEQ BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)] BODY.PEEK[])"
    first, *others = (one for one in talk.ask("UID", "FETCH", "1:*", items) if isinstance(one, Message))
    assert len(others) == 2
    assert (first.raw, first.size, first.message_id) == (MAIL, len(MAIL), "one@mail.test")
    assert first.flags == frozenset({"\\seen", "$Work"})
    assert first.modseq is not None
    assert first.arrived_at is not None

    uids = UidSet.of(one.uid for one in (first, *others) if one.uid is not None)
    found = [one for one in talk.ask("UID", "SEARCH", "RETURN (ALL)", "UID", "1:*") if isinstance(one, Found)]
    assert found == [Found(uids=uids)]
    two = UidSet.of(uids.uids(at_most=3)[1:])
    answer = talk.ask("UID", "MOVE", str(two), Text(b"Archive"))
    copied = [one.code for one in answer if isinstance(one, State) and one.code and one.code.name == "COPYUID"]
    assert copied[0].arguments[1] == str(two).encode()
    assert Vanished(uids=two, earlier=False) in answer

    talk.ask("SELECT", Text(b"Archive"))
    uid_validity, mod_seq = (codes[name].number() for name in ("UIDVALIDITY", "HIGHESTMODSEQ"))
    again = talk.ask("SELECT", Text(b"INBOX"), f"(QRESYNC ({uid_validity} {mod_seq}))")
    gone = [one.uids for one in again if isinstance(one, Vanished) and one.earlier]
    assert all(uid in gone[0] for uid in two.uids(at_most=2))
    state = talk.ask("STATUS", Text(written_name(STRANGE_NAME)), "(MESSAGES UIDNEXT UIDVALIDITY HIGHESTMODSEQ)")
    (told,) = (one for one in state if isinstance(one, FolderStatus))
    assert told.items["MESSAGES"] == 0
    talk.ask("LOGOUT")
    return bytes(talk.came)


def test_all_that_is_asked_of_a_server_is_understood_on_both_sides(server: Dovecot) -> None:
    dialogue(server)


def test_what_dovecot_says_may_come_in_any_pieces_and_end_anywhere(server: Dovecot) -> None:
    said = dialogue(server)
    whole = heard(said)
    assert heard(*(said[at : at + 1] for at in range(len(said)))) == whole
    step = max(1, len(said) // examples(200))
    for at in range(0, len(said), step):
        part = heard(said[:at])
        assert part == whole[: len(part)]


def test_what_dovecot_says_may_be_spoilt(server: Dovecot) -> None:
    said = dialogue(server)
    chance = seeded()
    for _ in range(examples(200)):
        heard(spoilt(said, chance))


def heard(*pieces: bytes) -> list[Response]:
    framer = Framer()
    found: list[Response] = []
    try:
        for piece in pieces:
            framer.feed(piece)
            while (frame := framer.next()) is not None:
                found.append(response(frame))
    except ProtocolFault:
        pass
    return found


def spoilt(said: bytes, chance: random.Random) -> bytes:
    data = bytearray(said)
    for _ in range(chance.randrange(1, 20)):
        at = chance.randrange(len(data))
        if chance.random() < 0.5:
            data[at] = chance.randrange(256)
        else:
            del data[at : at + chance.randrange(1, 40)]
    return bytes(data)
