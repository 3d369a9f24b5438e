"""What an import reads: every shape a mailbox comes in, and what is made to do harm."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.mailbox import Mail, TooLong, mails
from svc.mail.porting import archives, sources
from svc.mail.porting.sources import Item, Skipped, SourceFault, open_file, open_source

LINE = b"From a@b.example Mon Nov 23 06:35:45 2026\n"


def mail(subject: str) -> bytes:
    return f"From: a@b.example\nSubject: {subject}\n\nHello\n".encode()


def mbox(*subjects: str) -> bytes:
    return b"".join(LINE + mail(subject) + b"\n" for subject in subjects)


def entries(box: bytes) -> list[Mail | TooLong]:
    """An mbox's mails with what an export wrote above them, in an order of their own."""
    return sorted(mails(io.BytesIO(box)), key=repr)


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def read(data: bytes, name: str = "mail") -> list[Item | Skipped]:
    return list(open_file(io.BytesIO(data), name=name).items)


def subjects(found: list[Item | Skipped]) -> list[str]:
    return [one.raw.partition(b"Subject: ")[2].partition(b"\n")[0].decode() for one in found if isinstance(one, Item)]


TAKEOUT = {
    "Takeout/archive_browser.html": b"<html>",
    "Takeout/Mail/All mail Including Spam and Trash.mbox": b"".join(
        LINE + b"X-GM-THRID: 1\nX-Gmail-Labels: Work,Starred\n" + mail(one) + b"\n" for one in ("a", "b")
    ),
}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_takeout_archive_gives_its_mails_with_their_labels(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    found = read(pack(TAKEOUT), "takeout.zip")
    assert subjects(found) == ["a", "b"]
    assert all(isinstance(one, Item) and one.marks.own == ("Work",) for one in found)
    assert all(isinstance(one, Item) and one.marks.system == {"STARRED"} for one in found)
    assert all(isinstance(one, Item) and one.raw.startswith(b"From: ") for one in found)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_maildir_in_an_archive_gives_folders_and_flags(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    files = {
        "Maildir/cur/1795415745.a:2,S": mail("read"),
        "Maildir/new/1795415746.b": mail("new"),
        "Maildir/.Work/cur/1795415747.c:2,FS": mail("work"),
        "Maildir/tmp/1.d": mail("half"),
        "Maildir/dovecot-uidlist": b"3 V1 N1",
    }
    found = read(pack(files))
    told = {subjects([one])[0]: (one.marks.system, one.marks.own) for one in found if isinstance(one, Item)}
    assert told == {
        "read": (frozenset(), ("Maildir",)),
        "new": (frozenset({"UNREAD"}), ("Maildir",)),
        "work": (frozenset({"STARRED"}), ("Maildir/Work",)),
    }
    assert next(one.at for one in found if isinstance(one, Item)) == 1_795_415_745_000


def test_the_same_maildir_as_a_folder_and_its_links_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "box"
    for folder in ("cur", "new", ".Sent/cur"):
        (root / folder).mkdir(parents=True)
    (root / "cur" / "1.a:2,S").write_bytes(mail("read"))
    (root / ".Sent" / "cur" / "2.b:2,S").write_bytes(mail("sent"))
    (tmp_path / "secret").write_bytes(mail("secret"))
    (root / "cur" / "3.c:2,S").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(tmp_path)
    os.mkfifo(root / "new" / "4.d")
    with open_source(root) as source:
        found = list(source.items)
        assert source.done == source.total
    assert sorted(subjects(found)) == ["read", "sent"]
    skipped = [one.reason for one in found if isinstance(one, Skipped)]
    assert any("3.c" in one for one in skipped)


def test_a_file_of_one_mail_and_an_mbox_that_is_packed_alone() -> None:
    assert subjects(read(mail("alone"), "a.eml")) == ["alone"]
    assert subjects(read(gzip.compress(mbox("a", "b")), "old.mbox.gz")) == ["a", "b"]


def test_a_profile_of_thunderbird_gives_its_folders_with_the_paths_that_they_have_there() -> None:
    bare = b"From \r\n" + mail("a") + b"\r\n"
    found = read(zipped({"Local/Sent": bare, "Local/Boats.sbd/2024": bare, "Local/Boats.msf": b"// <!-- <mdb:mork"}))
    assert [(one.marks.system, one.marks.own) for one in found if isinstance(one, Item)] == [
        (frozenset({"SENT"}), ()),
        (frozenset(), ("Boats/2024",)),
    ]


def test_what_a_mac_packs_gives_its_mails_and_nothing_of_its_own_files_beside_them() -> None:
    written = mail("apple")
    plist = b"<plist><dict><key>flags</key>\n<integer>%d</integer></dict></plist>"
    of = "Mail/Boats.mbox/8C/Data/Messages"
    data = zipped(
        {
            f"{of}/1.emlx": b"%-10d\n" % len(written) + written + plist % 0x10,
            f"{of}/2.emlx": b"%d\n" % len(written) + written + plist % 0x3,
            f"{of}/3.emlx": b"%d\n" % 4_000 + written,
            "__MACOSX/Mail/._4.eml": b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X",
            "Mail/4.eml": mail("alone"),
        }
    )
    found = read(data)
    assert subjects(found) == ["apple", "alone"]
    apple = found[0]
    assert isinstance(apple, Item)
    assert (apple.raw, apple.marks.system, apple.marks.own) == (
        written,
        frozenset({"UNREAD", "STARRED"}),
        ("Boats",),
    )
    assert [one.reason for one in found if isinstance(one, Skipped) and one.reason] == [
        "3.emlx is damaged, or has more than 100 MB.",
    ]


def test_an_mbox_named_as_a_folder_that_everybody_has_gives_its_label() -> None:
    assert [one.marks.system for one in read(mbox("a"), "Sent.mbox") if isinstance(one, Item)] == [{"SENT"}]
    assert [one.marks.own for one in read(mbox("a"), "notes.mbox") if isinstance(one, Item)] == [()]


@pytest.mark.parametrize("data", [b"", b"\x00" * 100, b"%PDF-1.7\n", b"PK\x03\x04 and no zip", b"hello world"])
def test_what_is_no_mailbox_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(SourceFault, match=r"mailbox|damaged"):
        read(data)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Takeout-2.zip", zipped({"b.mbox": mbox("b")})),
        ("b.mbox.gz", gzip.compress(mbox("b"), mtime=0)),
        ("b.tgz", tarred({"b.mbox": mbox("b")})),
        ("cur/1700000000.M1.h:2,S", gzip.compress(mail("b"), mtime=0)),
    ],
    ids=["zip", "gz", "tgz", "maildir"],
)
def test_an_archive_in_a_folder_is_read_and_one_in_an_archive_is_told(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    (tmp_path / "a.mbox").write_bytes(mbox("a"))
    with open_source(tmp_path) as source:
        assert sorted(subjects(list(source.items))) == ["a", "b"]
    found = read(zipped({"a.mbox": mbox("a"), name: content}))
    assert subjects(found) == ["a"]
    (told,) = (one.reason for one in found if isinstance(one, Skipped))
    assert "unpack it first" in told


def test_a_damaged_archive_in_a_folder_is_passed_over_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"a.mbox": mbox("a")})[:-30])
    (tmp_path / "b.tgz").write_bytes(tarred({"b.mbox": mbox("b")})[:-30])
    (tmp_path / "c.zip").write_bytes(zipped({"c.mbox": mbox("c")}))
    with open_source(tmp_path) as source:
        found = list(source.items)
    assert subjects(found)[-1:] == ["c"]
    assert len([one.reason for one in found if isinstance(one, Skipped)]) == 2


@pytest.mark.parametrize("files", [{}, {"a.txt": b"hello", "b/c.pdf": b"%PDF-1.7"}])
def test_where_there_is_no_mail_at_all_it_is_said(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(SourceFault, match="no mail"):
        read(zipped(files))
    with open_source(tmp_path) as source, pytest.raises(SourceFault, match="no mail"):
        list(source.items)


def test_a_zip_that_is_cut_off_is_refused_and_a_tar_gives_what_came_before() -> None:
    with pytest.raises(SourceFault, match="damaged"):
        read(zipped(TAKEOUT)[:-40])
    random = os.urandom(200_000).hex().encode()
    packed = tarred({"a.mbox": mbox("a"), "b.mbox": LINE + mail("b") + random})
    items = open_file(io.BytesIO(packed[: len(packed) // 2]), name="a.tgz").items
    assert subjects([next(items)]) == ["a"]
    with pytest.raises(SourceFault, match="damaged"):
        list(items)


def test_a_zip_whose_list_of_files_is_wrong_stops_no_import(tmp_path: Path) -> None:
    """Read from the disk, as an import does."""
    good = zipped({"a.mbox": mbox("a")})
    before_the_start = good[:-6] + (int.from_bytes(good[-6:-2], "little") + 1_000).to_bytes(4, "little") + good[-2:]
    unnamed = zipped({"no-name": b"x", "a.mbox": mbox("a")}).replace(b"no-name", b"\0o-name")
    for data, subject in ((before_the_start, []), (unnamed, ["a"])):
        (tmp_path / "a.zip").write_bytes(data)
        with open_source(tmp_path / "a.zip") as source:
            assert subjects(list(source.items)) == subject


def test_a_damaged_member_of_a_zip_is_passed_over_and_the_others_are_read() -> None:
    data = bytearray(zipped({"a.mbox": mbox("a"), "b.mbox": mbox("b")}))
    at = data.index(b"a.mbox") + len("a.mbox")
    data[at : at + 8] = b"\xff" * 8
    found = read(bytes(data))
    assert subjects(found) == ["b"]
    assert [one.reason for one in found if isinstance(one, Skipped)] == [
        "a.mbox can’t be unpacked: it is damaged, or locked with a password."
    ]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_what_is_made_to_explode_is_not_read_further(
    pack: Callable[[dict[str, bytes]], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "ALWAYS_BYTES", 1 << 20)
    bomb = pack({"a.mbox": LINE + b"Subject: bomb\n\n" + b"x" * (16 << 20)})
    with pytest.raises(SourceFault, match="200 times its size"):
        read(bomb)


def test_a_zip_with_too_many_files_is_refused_before_its_list_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 10_000)
    with pytest.raises(SourceFault, match="too many files"):
        read(zipped({f"{number}.eml": b"x" for number in range(500)}))


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_that_lead_out_of_the_archive_write_nothing_anywhere(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "here"
    home.mkdir()
    monkeypatch.chdir(home)
    found = read(pack({"../../evil.eml": mail("a"), "/etc/evil.mbox": mbox("b"), "..\\c.eml": mail("c")}))
    assert subjects(found) == ["a", "b", "c"]
    assert list(tmp_path.rglob("*")) == [home]


def test_links_in_archives_are_no_files() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        link = tarfile.TarInfo("box/cur/1.a:2,S")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(SourceFault, match="no mail"):
        read(data.getvalue())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zip_archive:
        info = zipfile.ZipInfo("a.eml")
        info.external_attr = 0o120777 << 16
        zip_archive.writestr(info, "/etc/passwd")
    with pytest.raises(SourceFault, match="no mail"):
        read(packed.getvalue())


def test_a_mail_of_200_mb_is_passed_over_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size itself is made small here: what counts is that no more than the bound is read."""
    monkeypatch.setattr(sources, "MAX_MAIL_BYTES", 1_000)
    large = mail("large") + b"x" * 2_000
    found = read(zipped({"a.eml": large, "box/cur/1.b:2,S": large, "c.eml": mail("small")}))
    assert subjects(found) == ["small"]
    assert len([one for one in found if isinstance(one, Skipped)]) == 2


def test_nuls_and_lines_without_end_are_bytes_like_any_others() -> None:
    raw = b"Subject: \x00\n\n" + b"\x00x" * 400_000
    found = read(LINE + raw + b"\n\n" + mbox("after"))
    assert next(one.raw for one in found if isinstance(one, Item)) == raw + b"\n"
    assert subjects(found)[1] == "after"


@pytest.mark.parametrize("kind", ["stored", "deflated", "bzip2", "lzma", "gzip", "tar"])
def test_whatever_byte_of_an_archive_is_wrong_it_is_told_in_words(kind: str) -> None:
    method = {"stored": 0, "deflated": 8, "bzip2": 12, "lzma": 14}.get(kind)
    if method is not None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", method) as archive:
            archive.writestr("Inbox.mbox", mbox("a", "b"))
            archive.writestr("\u00e9.eml", mail("c"))
        whole = packed.getvalue()
    else:
        whole = gzip.compress(mbox("a", "b")) if kind == "gzip" else tarred({"Inbox.mbox": mbox("a", "b")})
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xA5
        with suppress(SourceFault):
            read(bytes(damaged))
    assert subjects(read(whole))[:2] == ["a", "b"]


def test_many_short_lines_take_no_more_room_than_their_bytes() -> None:
    box = LINE + b"a\n" * 1_000_000
    tracemalloc.start()
    (found,) = mails(io.BytesIO(box))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, Mail)
    assert len(found.raw) == 2_000_000
    assert most < 6 * len(found.raw)


@given(
    st.lists(
        st.sampled_from(
            [LINE, LINE[:-1], b"From ", b"\nFrom \nA: b\nC: d\n", b"Fr", b"\n", b"\r\n", b"x", b">From a\n"]
        ),
        max_size=10,
    )
)
def test_an_mbox_is_cut_into_the_same_mails_however_it_comes_in_pieces(parts: list[bytes]) -> None:
    box = b"".join(parts)
    at_once = list(mails(io.BytesIO(box)))
    assert list(mails(io.BufferedReader(_Dripping(box), 1))) == at_once


class _Dripping(io.RawIOBase):
    """A byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._left = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._left.read(1)
        buffer[: len(data)] = data
        return len(data)
