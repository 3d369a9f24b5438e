"""What servers say, as real ones say it, is understood; what they should not say ends in words, and nothing else."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.responses import (
    Capabilities,
    Code,
    Enabled,
    Exists,
    Expunged,
    Folder,
    FolderStatus,
    Found,
    GoOn,
    Other,
    Response,
    State,
    Vanished,
    response,
)
from svc.mail.providers.imap.protocol.sets import MAX_UID, UidSet
from tests.sizes import EXAMPLES


def said(data: bytes) -> Response:
    framer = Framer()
    framer.feed(data + b"\r\n")
    frame = framer.next()
    assert frame is not None
    return response(frame)


def told(data: bytes) -> Message:
    found = said(data)
    assert isinstance(found, Message)
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"* CAPABILITY IMAP4rev1 auth=plain MOVE", Capabilities(names=frozenset({"IMAP4REV1", "AUTH=PLAIN", "MOVE"}))),
        (b"* ENABLED QRESYNC", Enabled(names=frozenset({"QRESYNC"}))),
        (b"* ENABLED", Enabled(names=frozenset())),
        (b"* 172 EXISTS", Exists(messages=172)),
        (b"* 44 EXPUNGE", Expunged(number=44)),
        (b"* 1 RECENT", Other(name="RECENT")),
        (b"* FLAGS (\\Answered", Other(name="FLAGS")),  # unread: nobody asked
        (b"* NONSENSE ((((", Other(name="NONSENSE")),
        (b"* VANISHED (EARLIER) 41,43:116", Vanished(uids=UidSet(((41, 41), (43, 116))), earlier=True)),
        (b"* VANISHED 1:4294967295", Vanished(uids=UidSet(((1, MAX_UID),)), earlier=False)),
        (b"* SEARCH 2 84 882", Found(uids=UidSet.of([2, 84, 882]))),
        (b"* SEARCH", Found(uids=UidSet())),
        (b"* SEARCH 2 5 (MODSEQ 917162500)", Found(uids=UidSet.of([2, 5]))),
        (b'* ESEARCH (TAG "A282") UID ALL 2,10:15', Found(uids=UidSet(((2, 2), (10, 15))))),
        (b'* ESEARCH (TAG "A282") UID MIN 2 COUNT 3', Found(uids=UidSet())),
        (b"* ESEARCH (TAG a1) UID", Found(uids=UidSet())),
        (b"+ ", GoOn(data=b"")),
        (b"+ eyJzdGF0dXMiOiI0MDEifQ==", GoOn(data=b"eyJzdGF0dXMiOiI0MDEifQ==")),
        (b"+", GoOn(data=b"")),
    ],
)
def test_what_servers_say_by_themselves(line: bytes, expected: Response) -> None:
    assert said(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"* OK still here", State(tag=None, outcome="OK", code=None, words="still here")),
        (b"* ok", State(tag=None, outcome="OK", code=None, words="")),
        (b"* BYE Autologout", State(tag=None, outcome="BYE", code=None, words="Autologout")),
        (b"a7 OK", State(tag="a7", outcome="OK", code=None, words="")),
        (
            b"* OK [UIDVALIDITY 3857529045] UIDs valid",
            State(
                tag=None, outcome="OK", code=Code(name="UIDVALIDITY", arguments=(b"3857529045",)), words="UIDs valid"
            ),
        ),
        (
            b"* OK [PERMANENTFLAGS (\\Deleted \\Seen \\*)] Limited",
            State(
                tag=None,
                outcome="OK",
                code=Code(name="PERMANENTFLAGS", arguments=(b"\\Deleted", b"\\Seen", b"\\*")),
                words="Limited",
            ),
        ),
        (
            b"A3 OK [COPYUID 38505 304,319:320 3956:3958] Done",
            State(
                tag="A3",
                outcome="OK",
                code=Code(name="COPYUID", arguments=(b"38505", b"304,319:320", b"3956:3958")),
                words="Done",
            ),
        ),
        (
            b"A3 OK [APPENDUID 38505 3955] APPEND completed",
            State(
                tag="A3",
                outcome="OK",
                code=Code(name="APPENDUID", arguments=(b"38505", b"3955")),
                words="APPEND completed",
            ),
        ),
        (
            b"a NO [ALERT] Application-specific password required: https://x.test/185833 (Failure)",
            State(
                tag="a",
                outcome="NO",
                code=Code(name="ALERT"),
                words="Application-specific password required: https://x.test/185833 (Failure)",
            ),
        ),
        (
            b'a NO [BADURL "]"] no',
            State(tag="a", outcome="NO", code=Code(name="BADURL", arguments=(b"]",)), words="no"),
        ),
        (b"a BAD [unclosed", State(tag="a", outcome="BAD", code=None, words="[unclosed")),
        (
            b"* BYE \x1b[31mbad\xe2\x80\xaewords\xff " + b"x" * 400,
            State(tag=None, outcome="BYE", code=None, words=("[31mbad words\ufffd " + "x" * 400)[:300]),
        ),
    ],
)
def test_how_something_went(line: bytes, expected: State) -> None:
    found = said(line)
    assert isinstance(found, State)
    assert (found.tag, found.outcome, found.code) == (expected.tag, expected.outcome, expected.code)
    assert found.words[:290] == expected.words[:290]


@pytest.mark.parametrize(
    ("line", "name", "delimiter", "attributes"),
    [
        (b'* LIST (\\HasNoChildren) "/" INBOX', b"INBOX", b"/", {"\\hasnochildren"}),
        (b'* LIST (\\Noselect) NIL ""', b"", None, {"\\noselect"}),
        (b'* LIST () "." "a \\"b\\" \\\\c"', b'a "b" \\c', b".", set()),
        (b'* LIST () "\\\\" "INBOX\\x"', b"INBOX\\x", b"\\", set()),
        (
            b'* LIST (\\HasNoChildren \\All) "/" "[Gmail]/All Mail"',
            b"[Gmail]/All Mail",
            b"/",
            {"\\hasnochildren", "\\all"},
        ),
        (b"* LIST () / [Gmail]", b"[Gmail]", b"/", set()),
        (b'* LIST () "/" {5}\r\n"a{1}', b'"a{1}', b"/", set()),
        (b'* LIST (\\Sent) "/" 2026', b"2026", b"/", {"\\sent"}),
        (b'* LIST (\\Sent) "/" Sent (CHILDINFO ("SUBSCRIBED"))', b"Sent", b"/", {"\\sent"}),
    ],
)
def test_folders(line: bytes, name: bytes, delimiter: bytes | None, attributes: set[str]) -> None:
    assert said(line) == Folder(name=name, delimiter=delimiter, attributes=frozenset(attributes))


def test_the_state_of_a_folder() -> None:
    found = said(b"* STATUS blurdybloop (MESSAGES 231 UIDNEXT 44292 HIGHESTMODSEQ 7011231777 X (1) )")
    assert isinstance(found, FolderStatus)
    assert found.name == b"blurdybloop"
    assert dict(found.items) == {"MESSAGES": 231, "UIDNEXT": 44292, "HIGHESTMODSEQ": 7011231777}


def test_a_message() -> None:
    found = told(
        b'* 12 FETCH (FLAGS (\\SEEN $Work \\Recent) INTERNALDATE " 7-Jul-1996 02:44:25 -0700" RFC822.SIZE 4286 '
        b'MODSEQ (624140003) X-GM-MSGID 1278455344230334865 X-GM-LABELS (\\Inbox "a b") UID 9 '
        b"BODY[HEADER.FIELDS (MESSAGE-ID)] {38}\r\nMessage-Id:\r\n <CAGq=1@mail.test>\r\n\r\n\r\n "
        b"BODY[] {7}\r\n(hello)) "
    )
    at = datetime(1996, 7, 7, 9, 44, 25, tzinfo=UTC)
    assert found == Message(
        number=12,
        uid=9,
        flags=frozenset({"\\seen", "$Work"}),
        modseq=624140003,
        arrived_at=int(at.timestamp() * 1_000),
        size=4286,
        raw=b"(hello)",
        header=b"Message-Id:\r\n <CAGq=1@mail.test>\r\n\r\n\r\n",
        labels=frozenset({b"\\Inbox", b"a b"}),
        server_id=f"{1278455344230334865:x}",
    )
    assert found.message_id == "CAGq=1@mail.test"
    assert found.draft_mark is None


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        (b"Date: Mon, 23 Nov 2026 12:00:00 +0000\r\nX-Svc-Outgoing: drf_1\r\n\r\n", "drf_1 1795435200000"),
        (b"x-svc-outgoing:\r\n drf_1\r\nDATE: 23 Nov 2026 13:00:00 +0100\r\n\r\n", "drf_1 1795435200000"),
        (b"Date: Mon, 23 Nov 2026 12:00:00 +0000\r\n\r\n", None),
        (b"Date: 99 Foo 99999999999999999999 99:99:99 +9999\r\nX-Svc-Outgoing: drf_1\r\n\r\n", None),
        (b"X-Svc-Outgoing: drf_1\r\n\r\n", None),
    ],
)
def test_what_marks_a_draft_as_ours(header: bytes, mark: str | None) -> None:
    assert Message(number=1, header=header).draft_mark == mark


@pytest.mark.parametrize(
    ("line", "raw", "too_large"),
    [
        (b'* 1 FETCH (BODY[] "quoted \\"raw\\"" UID 1)', b'quoted "raw"', None),
        (b"* 1 FETCH (BODY[] NIL UID 1)", None, None),
        (b"* 1 FETCH (UID 1)", None, None),
        (b"* 1 FETCH (RFC822 {2}\r\nab UID 1)", b"ab", None),
        (b"* 1 FETCH (BODY[] ~{2}\r\na\0 UID 1)", b"a\0", None),
    ],
)
def test_the_whole_of_a_message_comes_in_many_forms(line: bytes, raw: bytes | None, too_large: int | None) -> None:
    found = told(line)
    assert (found.raw, found.too_large, found.uid) == (raw, too_large, 1)


@pytest.mark.parametrize("date", ["nonsense", "31-Feb-2020 10:00:00 +0000", "01-Jan-0000 23:59:59 +0000", ""])
def test_a_date_that_no_calendar_has_is_none(date: str) -> None:
    assert told(f'* 1 FETCH (INTERNALDATE "{date}")'.encode()).arrived_at is None


@pytest.mark.parametrize(
    "line",
    [
        b"HTTP/1.1 400 Bad Request",
        b"220 smtp.test ESMTP",
        b"* 1 FETCH (UID x)",
        b"* 1 FETCH (UID 7",
        b"* 1 FETCH (UID 7))",
        b'* 1 FETCH (FLAGS "a)',
        b"* 1 FETCH FLAGS",
        b"* 1 FETCH (FLAGS \\Seen)",
        b"* 1 FETCH " + b"(" * 100,
        b"* LIST INBOX",
        b"* VANISHED 5:x",
        b"* VANISHED",
        b"* VANISHED 1:4294967296",
        b"* SEARCH 1 two",
        b"* STATUS x",
    ],
)
def test_what_is_no_imap_is_a_fault(line: bytes) -> None:
    with pytest.raises(ProtocolFault):
        said(line)


SAMPLES = (
    b'* 12 FETCH (FLAGS (\\SEEN $Work) INTERNALDATE "17-Jul-1996 02:44:25 -0700" UID 9 BODY[] {7}\r\n(hello))\r\n',
    b'* LIST (\\HasNoChildren) "/" "a\\"b"\r\n* STATUS x (UIDNEXT 7)\r\n* VANISHED (EARLIER) 1:7,9\r\n',
    b"* OK [UIDVALIDITY 7] ok\r\na1 OK [COPYUID 1 2:3 4:5] done\r\n* SEARCH 1 2 (MODSEQ 3)\r\n* ESEARCH UID ALL 1\r\n",
)


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(SAMPLES), st.randoms(use_true_random=False), st.integers(1, 6))
def test_spoilt_answers_end_in_a_fault_or_in_a_response(sample: bytes, chance: random.Random, spoils: int) -> None:
    data = bytearray(sample)
    for _ in range(spoils):
        at = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at]
            case _:
                data[at:at] = chance.choice(
                    (b"(", b")", b'"', b"{9}\r\n", b"\r\n", b"\\", b"[", b"\0", b"999999999999")
                )
    framer = Framer()
    try:
        framer.feed(bytes(data))
        while (frame := framer.next()) is not None:
            response(frame)
    except ProtocolFault:
        pass


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_fault_or_in_responses(data: bytes) -> None:
    framer = Framer()
    try:
        framer.feed(data + b"\r\n")
        while (frame := framer.next()) is not None:
            response(frame)
    except ProtocolFault:
        pass
