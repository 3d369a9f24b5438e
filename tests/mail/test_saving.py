"""All attachments of a message in one zip: whole, under names that are safe and unique, with a note of what is lost."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.files.names import safe_name
from svc.mail.reading.saving import unique_names
from tests.mail.test_sources import arrived
from tests.support.service import Service


def letter(*files: tuple[str, bytes]) -> bytes:
    made = EmailMessage()
    made["From"] = "Noa <noa@example.org>"
    made["Subject"] = 'Plans / "Boats"'
    made.set_content("See below.")
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made.as_bytes()


async def saved(service: Service, message_id: str) -> dict[str, bytes]:
    reply = await service.get(f"/mail/messages/{message_id}/attachments")
    assert reply.status == 200
    assert reply.header("content-type") == "application/zip"
    assert (reply.header("content-disposition") or "").startswith("attachment; ")
    with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def lose(directory: Path, sha256: str) -> None:
    next(directory.glob(f"**/blobs/**/{sha256}")).unlink()


@pytest.mark.thorough
async def test_all_are_there_under_safe_and_unique_names(service: Service) -> None:
    large = bytes(range(256)) * 2_000
    (message,) = await arrived(service, letter(("a.txt", b"one"), ("A.txt", b"two"), ("../../etc/x", large)))
    assert await saved(service, message["id"]) == {"a.txt": b"one", "A (2).txt": b"two", "x": large}


async def test_a_note_says_which_is_lost(service: Service, tmp_path: Path) -> None:
    (message,) = await arrived(service, letter(("here.txt", b"one"), ("lost.txt", b"two")))
    (lost,) = [one["sha256"] for one in message["attachments"] if one["filename"] == "lost.txt"]
    lose(tmp_path, lost)
    found = await saved(service, message["id"])
    assert found["here.txt"] == b"one"
    assert b"lost.txt" in found["Missing.txt"]
    assert set(found) == {"here.txt", "Missing.txt"}


async def test_a_message_without_any_has_no_zip(service: Service) -> None:
    (message,) = await arrived(service, letter())
    assert (await service.get(f"/mail/messages/{message['id']}/attachments")).status == 404


@given(names=st.lists(st.one_of(st.text(max_size=12), st.sampled_from(["a.txt", "A.TXT", "a (2).txt", ".x", ".X"]))))
@example(names=["A:", "A:"])  # with a number it looks like a drive of another system
@example(names=["2 .2", "2 .2"])
@example(names=["x" * 255] * 3)
def test_names_are_unique_also_where_case_does_not_count(names: list[str]) -> None:
    unique = unique_names(names)
    assert len({name.casefold() for name in unique}) == len(names)
    assert all(name == safe_name(name) for name in unique)
