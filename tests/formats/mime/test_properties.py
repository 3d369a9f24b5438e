"""What holds for any bytes: nothing is raised, every text is clean, every bound is kept."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from svc.formats.mime import ParsedMessage, parse_head_only, parse_message
from svc.formats.mime.addresses import parse_addresses
from svc.formats.mime.dates import LATEST_MS, parse_date
from svc.formats.mime.fields import disposition, media_type, text_of
from svc.formats.mime.model import MAX_FILENAME_BYTES, Problems
from svc.formats.mime.names import safe_filename
from svc.formats.mime.words import header_line
from svc.formats.snippet import MAX_SNIPPET_CHARS
from tests.sizes import examples

from .golden import GOLDEN

UNCLEAN_BODY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
UNCLEAN_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

PIECES = st.sampled_from(
    [
        *(
            b"\n",
            b"\r\n",
            b"\r",
            b"\n\n",
            b" ",
            b"\t",
            b"--b",
            b"--b--",
            b"--c",
            b";",
            b",",
            b'"',
            b"\\",
            b"<",
            b">",
            b"@",
            b"(",
        ),
        *(
            b")",
            b":",
            b"=?utf-8?q?",
            b"=?iso-2022-jp?b?",
            b"?=",
            b"=E2=80=AE",
            b"=0D=0ABcc: x",
            b"\x00",
            b"\xff",
            b"\xc3\xa9",
        ),
        *(
            b"Subject: ",
            b"From: ",
            b"To: ",
            b"Date: ",
            b"References: ",
            b"Message-ID: ",
            b"Content-Id: <a>",
            b"27 Oct 2026",
        ),
        *(b"Content-Type: multipart/mixed; boundary=b\n\n", b"Content-Type: multipart/alternative; boundary=c\n\n"),
        *(
            b"Content-Type: multipart/related\n\n",
            b"Content-Type: text/html; charset=utf-7\n\n",
            b"Content-Type: message/rfc822\n\n",
        ),
        *(
            b"Content-Transfer-Encoding: base64\n",
            b"Content-Transfer-Encoding: quoted-printable\n",
            b"aGVsbG8=",
            b"+2AA-",
        ),
        *(
            b"Content-Disposition: attachment; filename*0*=utf-8''%ff",
            b'filename="../a\x00"',
            b"<style>",
            b"&#xd800;",
            b"hello",
        ),
    ]
)


def assemble(pieces: list[bytes]) -> bytes:
    return b"".join(pieces)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A golden mail with a few stretches cut, doubled or overwritten."""
    raw = draw(st.sampled_from(GOLDEN)).raw
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(raw)))
        end = min(len(raw), start + draw(st.integers(0, 60)))
        raw = raw[:start] + draw(st.one_of(st.binary(max_size=8), PIECES, st.just(raw[start:end] * 2))) + raw[end:]
    return raw


@pytest.mark.thorough
@settings(max_examples=examples(400))
@given(st.one_of(st.binary(max_size=400), st.lists(PIECES, max_size=40).map(assemble), mutated()))
def test_any_bytes_become_a_clean_message(raw: bytes) -> None:
    for message in (parse_message(raw), parse_head_only(raw)):
        check(message)
        assert message.size == len(raw)


@given(st.sampled_from(GOLDEN), st.integers(0, 2_000))
def test_a_mail_cut_anywhere_is_still_read(golden: object, end: int) -> None:
    raw = getattr(golden, "raw", b"")
    check(parse_message(raw[:end]))


@given(st.text(alphabet='ab@<>(),;:"\\ =?.[]q', max_size=60))
@example('"<"')
@example('"<a@b">')
def test_any_address_list_has_clean_mailboxes(text: str) -> None:
    for mailbox in parse_addresses([text], problems=Problems()):
        assert mailbox.name or mailbox.address
        assert not UNCLEAN_LINE.search(mailbox.name + mailbox.address)
        assert not mailbox.address.startswith("<")


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="aBc ,.@<'", min_size=1, max_size=10).map(lambda name: f"a{name}z"),
            st.text(alphabet="ab.+-0", min_size=1, max_size=8).map(lambda local: f"a{local}z@x.example"),
        ),
        max_size=8,
    )
)
def test_a_well_formed_list_is_read_as_written(people: list[tuple[str, str]]) -> None:
    people = [(" ".join(name.split()), address) for name, address in people]
    text = ", ".join(f'"{name}" <{address}>' for name, address in people)
    assert [(one.name, one.address) for one in parse_addresses([text], problems=Problems())] == people


JUNK = st.sampled_from(
    ["PayPal", ",", ";", "<", "<<", ">", "_", '"PayPal"', "<6949", "<x>", "(x)", "[", ":", "Inc.", " "]
)


@given(
    st.lists(JUNK, max_size=6),
    st.sampled_from(["<a@b.example>", " a@b.example "]),
    st.sampled_from(["", ",", ">", ";"]),
)
@example(["<", "PayPal"], " a@b.example ", ">")
def test_whatever_stands_around_it_an_address_in_from_is_the_senders(junk: list[str], address: str, end: str) -> None:
    written = "".join(junk) + (address if not "".join(junk).endswith("<") else address.strip(" <>") + ">") + end
    message = parse_message(f"From: {written}\n\n".encode())
    assert message.sender is not None
    assert message.sender.address == "a@b.example", written


@given(
    st.lists(st.sampled_from(["a@b.example", "<c@d.example>", "Bo <e@f.example>", "junk", "_", "<6949"]), max_size=6)
)
def test_no_address_of_a_list_is_lost_beside_junk(items: list[str]) -> None:
    wanted = [found for one in items for found in re.findall(r"[a-z]@[a-z]\.example", one)]
    for name in ("To", "Cc", "Reply-To"):
        message = parse_message(f"{name}: {', '.join(items)}\n\n".encode())
        people = {"To": message.to, "Cc": message.cc, "Reply-To": message.reply_to}[name]
        assert [one.address for one in people if "@" in one.address] == wanted


@given(st.text(max_size=80))
def test_any_text_has_a_date_in_range_or_none(text: str) -> None:
    date = parse_date(text)
    assert date is None or 0 <= date <= LATEST_MS


@given(
    st.text(alphabet=st.characters(blacklist_categories=())), st.sampled_from(["text/plain", "message/rfc822", "x/y"])
)
def test_any_filename_is_a_plain_name(raw: str, mime: str) -> None:
    name = safe_filename(raw, mime=mime)
    assert 0 < len(name.encode()) <= MAX_FILENAME_BYTES
    assert not set(name) & set("/\\")
    assert not UNCLEAN_LINE.search(name)


@given(st.text(alphabet="ab;=\"\\*'%0 1/\n", max_size=60))
def test_any_parameters_read(text: str) -> None:
    for _, parameters in (media_type(text), disposition(text)):
        text_of(parameters, "a", problems=Problems())


@given(st.text(alphabet="=?utf-8QqBb_ \tA\u2028", max_size=60))
def test_any_encoded_words_give_one_clean_line(text: str) -> None:
    assert not UNCLEAN_LINE.search(header_line(text, problems=Problems()))


def check(message: ParsedMessage) -> None:
    for body in (message.text, message.html or ""):
        assert not UNCLEAN_BODY.search(body)
    for line in lines_of(message):
        assert not UNCLEAN_LINE.search(line)
    assert len(message.snippet) <= MAX_SNIPPET_CHARS
    assert message.date is None or 0 <= message.date <= LATEST_MS
    for attachment in message.attachments:
        assert 0 < len(attachment.filename.encode()) <= MAX_FILENAME_BYTES
        assert "/" not in attachment.filename
        assert re.fullmatch(r"[^\s/]+/[^\s/]+", attachment.mime)


def lines_of(message: ParsedMessage) -> Iterator[str]:
    """Every text of the message that is one line."""
    for field in dataclasses.fields(message):
        value = getattr(message, field.name)
        if field.name not in {"text", "html"} and isinstance(value, str):
            yield value
    yield from message.references
    yield from message.problems
    people = (*message.to, *message.cc, *message.bcc, *message.reply_to, *((message.sender,) if message.sender else ()))
    for mailbox in people:
        yield mailbox.name
        yield mailbox.address
    for attachment in message.attachments:
        yield attachment.filename
        yield attachment.mime
        yield attachment.content_id or ""
