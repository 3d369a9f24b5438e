"""Messages as they leave: read back by our parser and by the standard library's, they are what was composed."""

from __future__ import annotations

import email
import email.policy
import re
import tracemalloc
from collections.abc import Iterator
from email.message import EmailMessage, Message

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.mime import parse_message
from svc.formats.person import Person
from svc.formats.text import clean_text
from svc.formats.writing import Attached, NotAsMeant, compose, content_id_of, encoded_size
from svc.formats.writing.headers import MAX_LINE_BYTES, settled_filename
from tests.sizes import examples

from .letters import ANN, composed
from .test_headers import TEXT

PLAIN_FIELDS = ["content-type", "date", "from", "message-id", "mime-version", "subject", "to", "x-svc-outgoing"]
KIB = 1024
MIB = 1024 * KIB


def modern(raw: bytes) -> EmailMessage:
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def field_names(message: Message) -> list[str]:
    return sorted(name.lower() for name in message)


def assert_transportable(raw: bytes) -> None:
    assert raw.endswith(b"\r\n")
    assert raw.isascii()
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", raw)
    assert max(map(len, raw.split(b"\r\n"))) <= MAX_LINE_BYTES
    for part in email.message_from_bytes(raw).walk():
        assert not part.defects


def shape(message: Message) -> object:
    kind = message.get_content_type()
    return (kind, [shape(part) for part in message.iter_parts()]) if message.is_multipart() else kind  # type: ignore[attr-defined]


def test_a_message_reads_back_as_composed() -> None:
    raw = compose(composed(cc=(ANN,), bcc=(Person(name="", address="c@z.example"),)))
    assert_transportable(raw)
    read = parse_message(raw)
    assert (read.subject, read.text, read.html) == ("Lunch?", "Today at one?", "<p>Today at <b>one</b>?</p>")
    assert read.sender is not None
    assert (read.sender.name, read.sender.address) == (ANN.name, ANN.address)
    assert [[one.address for one in people] for people in (read.to, read.cc, read.bcc)] == [
        ["bob@y.example"],
        ["ann@x.example"],
        ["c@z.example"],
    ]
    assert (read.message_id, read.outgoing_mark, read.date) == ("out_1.abc@x.example", "out_1", 1_795_290_000_000)
    assert read.problems == ()
    assert field_names(modern(raw)) == sorted([*PLAIN_FIELDS, "cc", "bcc"])


def test_the_same_composition_gives_the_same_bytes() -> None:
    def once() -> bytes:
        return compose(composed(attachments=(Attached(filename="a.txt", mime="text/plain", content=[b"a"]),)))

    assert once() == once()
    assert once() != compose(composed(outgoing_id="out_2"))


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(
    subject=TEXT,
    names=st.lists(TEXT, max_size=4),
    ids=st.lists(TEXT, max_size=4),
    parent=st.none() | TEXT,
    filename=TEXT,
    mime=TEXT,
)
def test_no_text_whatever_adds_a_field(
    subject: str, names: list[str], ids: list[str], parent: str | None, filename: str, mime: str
) -> None:
    people = tuple(Person(name=name, address=f"p{index}@y.example") for index, name in enumerate(names))
    file = Attached(filename=filename, mime=mime, content=[b"content"])
    letter = composed(
        subject=subject, cc=people, references=tuple(ids), in_reply_to=parent, attachments=(file,), html="<p>", text=""
    )
    raw = compose(letter)
    assert_transportable(raw)
    message = modern(raw)
    optional = {"cc", "in-reply-to", "references"}
    assert [name for name in field_names(message) if name not in optional] == PLAIN_FIELDS
    assert len(set(field_names(message))) == len(field_names(message))
    assert ("cc" in message) == bool(people)
    (attached,) = message.iter_attachments()
    assert field_names(attached) == ["content-disposition", "content-transfer-encoding", "content-type"]
    assert attached.get_content_type() == parse_message(raw).attachments[0].mime
    assert parse_message(raw).attachments[0].filename == settled_filename(filename, mime=attached.get_content_type())


@given(
    text=st.text(alphabet=st.characters(blacklist_categories=()), max_size=300)
    | st.lists(st.sampled_from(["a", " ", "\n", "\t", ".", "=", "-", "é", "日", "From ", "--=_", "\r"])).map("".join),
    long=st.integers(0, 3_000),
)
def test_any_text_and_html_arrive_as_they_left(text: str, long: int) -> None:
    text += "x" * long
    raw = compose(composed(text=text, html=f"<p>{text}</p>"))
    assert_transportable(raw)
    meant = clean_text(text)
    read = parse_message(raw)
    assert (read.text, read.html) == (meant, clean_text(f"<p>{text}</p>"))
    plain = modern(raw).get_body(("plain",))
    assert plain is not None
    theirs = plain.get_payload(decode=True)
    assert isinstance(theirs, bytes)
    assert theirs.decode().replace("\r\n", "\n") == meant


def test_text_takes_the_shorter_encoding() -> None:
    raw = compose(composed(text="日本語のテキスト" * 20, html="<p>plain</p>"))
    encodings = [part["content-transfer-encoding"] for part in modern(raw).iter_parts()]
    assert encodings == ["base64", "quoted-printable"]


def image(index: int) -> Attached:
    return Attached(filename="i.png", mime="image/png", content=[b"png"], content_id=content_id_of("out_1", index))


def file(name: str = "a.pdf") -> Attached:
    return Attached(filename=name, mime="application/pdf", content=[b"pdf"])


@pytest.mark.parametrize(
    ("attachments", "expected"),
    [
        ((), ("multipart/alternative", ["text/plain", "text/html"])),
        ((file(),), ("multipart/mixed", [("multipart/alternative", ["text/plain", "text/html"]), "application/pdf"])),
        (
            (image(0),),
            ("multipart/alternative", ["text/plain", ("multipart/related", ["text/html", "image/png"])]),
        ),
        (
            (image(0), file(), image(1), file()),
            (
                "multipart/mixed",
                [
                    (
                        "multipart/alternative",
                        ["text/plain", ("multipart/related", ["text/html", "image/png", "image/png"])],
                    ),
                    "application/pdf",
                    "application/pdf",
                ],
            ),
        ),
    ],
)
def test_a_message_has_no_more_shape_than_it_needs(attachments: tuple[Attached, ...], expected: object) -> None:
    raw = compose(composed(attachments=attachments))
    assert_transportable(raw)
    assert shape(modern(raw)) == expected


def test_a_shown_image_is_read_as_one() -> None:
    raw = compose(composed(html='<img src="cid:0.out_1@svc.invalid">', attachments=(image(0), file())))
    shown, attached = parse_message(raw).attachments
    assert (shown.inline, shown.content_id, shown.mime) == (True, "0.out_1@svc.invalid", "image/png")
    assert (attached.inline, attached.content_id) == (False, None)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [0, 1, 2, 3, 56, 57, 58, 57 * 4_096 - 1, 57 * 4_096, 57 * 4_096 + 1, 3 * MIB + 1])
@pytest.mark.parametrize("piece", [1_000, 64 * KIB])
def test_a_file_of_any_size_arrives_whole(size: int, piece: int) -> None:
    content = bytes(index * 7 % 251 for index in range(size))
    pieces = (content[start : start + piece] for start in range(0, size, piece))
    raw = compose(composed(attachments=(Attached(filename="data.bin", mime="x/y", content=pieces),)))
    assert_transportable(raw)
    (attached,) = parse_message(raw).attachments
    assert (attached.filename, attached.mime) == ("data.bin", "x/y")
    assert attached.content == content
    (theirs,) = modern(raw).iter_attachments()
    assert theirs.get_payload(decode=True) == content
    assert len(raw) - len(compose(composed())) <= encoded_size([size])


@pytest.mark.thorough
def test_a_large_file_is_not_in_memory_three_times() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * (64 * KIB)

    tracemalloc.start()
    raw = compose(composed(attachments=(Attached(filename="a", mime="x/y", content=pieces()),)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(raw) > 12 * MIB
    assert peak < len(raw) * 1.6


def test_many_small_pieces_are_one_file() -> None:
    raw = compose(composed(attachments=(Attached(filename="a", mime="x/y", content=[b"ab"] * 5_000),)))
    assert parse_message(raw).attachments[0].content == b"ab" * 5_000


@pytest.mark.parametrize(
    ("mime", "sent"),
    [
        ("Image/PNG", "image/png"),
        ("text/csv; charset=latin1", "text/csv"),
        ("message/rfc822", "application/octet-stream"),
        ("multipart/mixed; boundary=x", "application/octet-stream"),
        ("nonsense", "application/octet-stream"),
        ("a/b\r\nBcc: x", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_file_goes_under_its_type_where_that_can_be_sent(mime: str, sent: str) -> None:
    raw = compose(composed(attachments=(Attached(filename="a.eml", mime=mime, content=[b"x"]),)))
    (attached,) = parse_message(raw).attachments
    assert (attached.mime, attached.content, attached.filename) == (sent, b"x", "a.eml")


def test_five_hundred_recipients_are_one_header_each_our_parser_reads() -> None:
    people = [Person(name=f"Päul the {index}th, of many", address=f"p{index}@y.example") for index in range(500)]
    raw = compose(composed(to=tuple(people[:200]), cc=tuple(people[200:300]), bcc=tuple(people[300:])))
    assert_transportable(raw)
    read = parse_message(raw)
    assert [Person(name=one.name, address=one.address) for one in (*read.to, *read.cc, *read.bcc)] == people
    assert (len(read.to), len(read.cc), len(read.bcc)) == (200, 100, 200)
    assert read.problems == ()


def test_a_reply_names_its_thread() -> None:
    raw = compose(composed(in_reply_to="b@y.example", references=("a@y.example", "b@y.example")))
    read = parse_message(raw)
    assert (read.in_reply_to, read.references) == ("b@y.example", ("a@y.example", "b@y.example"))


def test_a_strangers_id_that_cannot_be_written_is_left_out() -> None:
    hostile = "=?utf-8?q?x=0D=0ABcc:_e@x?=@y"
    raw = compose(composed(in_reply_to=hostile, references=(hostile, "a@y.example", "é@y.example")))
    read = parse_message(raw)
    assert (read.in_reply_to, read.references) == (None, ("a@y.example",))


@pytest.mark.parametrize(
    "changes",
    [
        {"to": (Person(name="", address="a@x.example>, <evil@x.example"),)},
        {"to": (Person(name="", address="a@x.example\r\nBcc: evil@x.example"),)},
        {"cc": (Person(name="", address="jörg@x.example"),)},
        {"bcc": (Person(name="", address=""),)},
        {"sender": Person(name="", address="nobody")},
        {"outgoing_id": "out 1"},
        {"outgoing_id": "out\r\nBcc: x"},
        {"message_id": "a b@x"},
        {"message_id": ""},
        {"attachments": (Attached(filename="a", mime="image/png", content=[], content_id="a>\r\nX: y"),)},
    ],
)
def test_what_was_not_checked_before_is_not_sent(changes: dict[str, object]) -> None:
    with pytest.raises(NotAsMeant):
        compose(composed(**changes))
