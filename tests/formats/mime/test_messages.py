"""Whole messages: hand-made odd ones against what a reader should see, and the bounds of the parser."""

from __future__ import annotations

import base64
import pickle
from dataclasses import asdict

import pytest

from svc.formats.mime import parse_head_only, parse_message
from svc.formats.mime.model import (
    MAX_ADDRESSES,
    MAX_BODY_BYTES,
    MAX_DECODED_BYTES,
    MAX_DEPTH,
    MAX_HEADER_FIELDS,
    MAX_PARTS,
    MAX_PROBLEMS,
    MAX_REFERENCES,
)
from svc.formats.snippet import MAX_SNIPPET_CHARS

from .golden import GOLDEN, Golden


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_an_odd_mail_reads_as_a_person_would_read_it(golden: Golden) -> None:
    message = parse_message(golden.raw)
    assert {name: getattr(message, name) for name in golden.expected} == golden.expected
    assert tuple((one.filename, one.mime, one.content) for one in message.attachments) == golden.attachments
    assert message.size == len(golden.raw)


@pytest.mark.parametrize("golden", [one for one in GOLDEN if b"\n\n\n" not in one.raw], ids=lambda golden: golden.name)
def test_line_ends_do_not_matter(golden: Golden) -> None:
    """But where a mail has empty lines after another, which count."""
    message = parse_message(golden.raw.replace(b"\n", b"\r\n"))
    assert {name: getattr(message, name) for name in golden.expected} == golden.expected
    contents = tuple(one.content.replace(b"\r\n", b"\n") for one in message.attachments)
    assert contents == tuple(content for _, _, content in golden.attachments)


def test_bare_carriage_returns_are_line_ends() -> None:
    message = parse_message(b"Subject: old mac\rFrom: a@b.example\r\rone\rtwo\r")
    assert (message.subject, message.text) == ("old mac", "one\ntwo\n")


def test_an_image_shown_by_the_html_is_inline_and_a_file_is_not() -> None:
    related = next(golden for golden in GOLDEN if golden.name.startswith("related_images"))
    logo, report = parse_message(related.raw).attachments
    assert (logo.inline, logo.content_id) == (True, "logo@x")
    assert (report.inline, report.content_id) == (False, None)


def test_the_only_text_is_the_body_even_with_a_name() -> None:
    message = parse_message(b"Content-Type: text/plain; name=mail.txt\n\nread me\n")
    assert (message.text, message.attachments) == ("read me\n", ())


def test_the_last_version_of_an_alternative_wins_and_an_empty_one_does_not() -> None:
    parts = [b"Content-Type: text/html\n\nfirst", b"Content-Type: text/html\n\nsecond", b"Content-Type: text/html\n\n"]
    message = parse_message(multipart(b"alternative", parts))
    assert (message.text, message.html) == ("", "second")


def test_an_invitation_in_an_alternative_is_kept_as_a_file() -> None:
    parts = [b"\ntext", b"Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR"]
    message = parse_message(multipart(b"alternative", parts))
    assert [one.filename for one in message.attachments] == ["invite.ics"]


def test_the_head_alone_has_everything_but_the_body() -> None:
    raw = GOLDEN[0].raw
    whole, head = asdict(parse_message(raw)), asdict(parse_head_only(raw))
    differing = {name for name in whole if whole[name] != head[name]}
    assert differing == {"text", "snippet", "problems"}
    assert head["problems"] == ("only the header was read",)


def test_sender_stands_in_for_a_missing_from() -> None:
    message = parse_message(b"Sender: Post <post@x.example>\nFrom:\n\n")
    assert message.sender is not None
    assert message.sender.address == "post@x.example"


def test_a_parsed_message_travels_between_processes() -> None:
    message = parse_message(GOLDEN[5].raw)
    assert pickle.loads(pickle.dumps(message)) == message


def test_parts_beyond_the_limit_are_not_read() -> None:
    parts = [b"Content-Type: image/gif\n\nGIF"] * (MAX_PARTS + 50)
    message = parse_message(multipart(b"mixed", parts))
    assert len(message.attachments) == MAX_PARTS - 1  # the multipart itself is one
    assert message.problems == (f"cut after {MAX_PARTS} parts",)


def test_what_is_nested_too_deeply_is_kept_whole() -> None:
    opening = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(MAX_DEPTH + 5)
    )
    message = parse_message(opening + b"\ndeep inside\n")
    (kept,) = message.attachments
    assert kept.mime == "application/octet-stream"
    assert b"deep inside" in kept.content
    assert message.problems == (f"kept whole below depth {MAX_DEPTH}",)


def test_a_part_just_within_the_depth_is_read() -> None:
    opening = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(MAX_DEPTH)
    )
    assert parse_message(opening + b"\ndeep inside\n").text == "deep inside\n"


def test_a_body_beyond_ten_mebibytes_is_cut() -> None:
    message = parse_message(b"Content-Type: text/html\n\n" + b"x" * (MAX_BODY_BYTES + 1))
    assert message.html is not None
    assert len(message.html) == MAX_BODY_BYTES
    assert message.problems == (f"body cut after {MAX_BODY_BYTES} bytes",)


def test_attachments_beyond_the_decoded_total_are_left_out() -> None:
    part = b"Content-Type: image/gif\n\n" + bytes(MAX_DECODED_BYTES // 2)
    message = parse_message(multipart(b"mixed", [part, part, part]))
    assert len(message.attachments) == 2
    assert message.problems == (f"part left out: more than {MAX_DECODED_BYTES} bytes decoded",)


def test_header_fields_beyond_the_limit_are_ignored_but_the_body_is_found() -> None:
    message = parse_message(b"Subject: first\n" + b"X-A: b\n" * (MAX_HEADER_FIELDS + 10) + b"To: a@b\n\nbody\n")
    assert (message.subject, message.to, message.text) == ("first", (), "body\n")
    assert message.problems


def test_a_header_of_five_megabytes_hides_neither_its_beginning_nor_the_body() -> None:
    message = parse_message(b"Subject: first\r\nX-Long: " + b"a" * 5_000_000 + b"\r\n\r\nbody\r\n")
    assert (message.subject, message.text) == ("first", "body\n")


def test_addresses_references_and_problems_are_bounded() -> None:
    raw = b"To: " + b"a@b.example, " * (MAX_ADDRESSES + 1)
    raw += b"\nReferences: " + b"".join(b"<%d@x> " % number for number in range(MAX_REFERENCES * 2))
    raw += b"\nSubject: " + b"".join(b"=?x-%d?q?a?= " % number for number in range(MAX_PROBLEMS * 2)) + b"\n\n"
    message = parse_message(raw)
    assert len(message.to) == MAX_ADDRESSES
    assert len(message.references) == MAX_REFERENCES
    assert (message.references[0], message.references[-1]) == ("0@x", f"{MAX_REFERENCES * 2 - 1}@x")
    assert len(message.problems) == MAX_PROBLEMS


def test_a_snippet_is_one_short_line() -> None:
    message = parse_message(b"\n" + b"word\n\n  word\t" * 100)
    assert len(message.snippet) <= MAX_SNIPPET_CHARS
    assert message.snippet.startswith("word word word")
    assert message.snippet.endswith("…")


def test_a_snippet_of_html_has_no_style_script_or_markup() -> None:
    html = b"<style>p{}</style><script>x()</script><title>t</title><p>Hi &amp; <b>bye</b></p>"
    message = parse_message(b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + base64.b64encode(html))
    assert message.snippet == "Hi & bye"


def multipart(subtype: bytes, parts: list[bytes]) -> bytes:
    body = b"".join(b"--b\n" + part + b"\n" for part in parts)
    return b"Content-Type: multipart/%s; boundary=b\n\n%s--b--\n" % (subtype, body)
