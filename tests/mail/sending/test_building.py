"""From an accepted mail to its bytes: which files go along under which names, and what is said where one is missing."""

from __future__ import annotations

from typing import Any

import pytest

from svc.files import File
from svc.formats.person import Person
from svc.formats.writing import NotAsMeant
from svc.mail.model import AttachmentRef
from svc.mail.sending import building
from svc.mail.sending.building import Builder, CannotBuild, Letter
from svc.mail.sending.model import Quoted
from svc.store import BlobCorrupt, BlobMissing

BUILDER: Builder = object.__new__(Builder)


def file(id: str, mime: str = "text/plain") -> File:
    return File(id=id, sha256="0" * 64, name=f"{id}.txt", mime=mime, size=1, created_at=0)


def parts(*files: File) -> building._Parts:
    return building._Parts(sender_name="", files={one.id: one for one in files})


def picture(file_id: str, content_id: str | None) -> AttachmentRef:
    return AttachmentRef(
        filename="p", mime="image/png", sha256="0", size=1, file_id=file_id, inline=True, content_id=content_id
    )


def letter(*, inline: tuple[AttachmentRef, ...] = (), attachments: tuple[str, ...] = ()) -> Letter:
    quoted = Quoted(
        message_id="msg",
        kind="reply",
        body_sha256="b",
        sender=Person(name="", address="a@x"),
        sent_at=0,
        subject="",
        to=(),
        cc=(),
        inline=inline,
    )
    return Letter(
        id="out_1",
        account_id="acc",
        owner_id=None,
        from_address="mia@example.org",
        to=(),
        cc=(),
        bcc=(),
        subject="",
        html="",
        origin="outgoing:out_1",
        attachments=attachments,
        quoted=quoted if inline else None,
        in_reply_to=None,
        references=(),
        message_id_header="id@x",
    )


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (BlobMissing("x"), "missing or damaged on this server"),
        (BlobCorrupt("x"), "missing or damaged on this server"),
        (NotAsMeant("x"), "read as it was meant"),
        (RuntimeError("x"), "log says why"),
    ],
)
async def test_what_no_bytes_can_be_made_of_says_why_and_keeps_the_cause_for_the_log(
    fault: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: object, letter: object) -> bytes:
        raise fault

    monkeypatch.setattr(Builder, "_build", fails)
    with pytest.raises(CannotBuild, match=told) as refused:
        await BUILDER.build(letter(), max_bytes=1)
    assert refused.value.__cause__ is fault


def attached(one: Letter, *files: File, shown: set[str]) -> list[tuple[str, str | None]]:
    images = building._content_ids(one.id, one.quoted) if one.quoted else {}
    found = BUILDER._attached(one, parts(*files), shown={images[name] for name in shown}, images=images)
    return [(part.filename, part.content_id) for part in found]


def test_of_a_quotes_pictures_those_that_are_shown_go_along_before_what_was_attached() -> None:
    mail = letter(inline=(picture("a", "a@x"), picture("b", "b@x"), picture("c", None)), attachments=("d",))
    (first, last) = attached(mail, file("a"), file("b"), file("d"), shown={"b@x"})
    assert (first[0], last) == ("b.txt", ("d.txt", None))
    assert first[1] is not None
    assert attached(mail, file("d"), shown=set()) == [("d.txt", None)]


def test_of_two_pictures_with_one_content_id_the_first_goes_along_alone() -> None:
    """A content id names one part of a mail."""
    mail = letter(inline=(picture("a", "same@x"), picture("b", "same@x")))
    assert [name for name, _ in attached(mail, file("a"), file("b"), shown={"same@x"})] == ["a.txt"]


def test_each_picture_has_a_content_id_of_its_own_in_each_mail() -> None:
    mail = letter(inline=(picture("a", "a@x"), picture("b", "b@x")))
    assert mail.quoted is not None
    here, there = (building._content_ids(one, mail.quoted) for one in ("out_1", "out_2"))
    assert len({*here.values(), *there.values()}) == 4


@pytest.mark.parametrize(
    ("kind", "mime", "method"),
    [
        ("text/calendar; method=REPLY", "text/calendar", "REPLY"),
        ("text/calendar; method=REQUEST", "text/calendar", "REQUEST"),
        ("text/calendar; method=DECLINECOUNTER", "text/calendar", "DECLINECOUNTER"),
        ("text/calendar; method=PUBLISH", "text/calendar", None),
        ("text/plain", "text/plain", None),
    ],
)
def test_a_calendar_file_says_so_where_it_is_an_answer(kind: str, mime: str, method: str | None) -> None:
    part: Any = BUILDER._file(parts(file("a", kind)), "a", content_id=None)
    assert (part.mime, part.method) == (mime, method)


def test_an_attachment_without_a_file_is_missing() -> None:
    with pytest.raises(BlobMissing, match="no file"):
        attached(letter(attachments=("gone",)), shown=set())
