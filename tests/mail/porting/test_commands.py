"""``svc mail import`` and ``svc mail export``, run as the command line runs them."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from svc import cli
from svc.store import Home
from tests.mail.porting.test_sources import LINE, entries, mail, mbox
from tests.migrated import lay_database

MAILS = LINE + b"X-Gmail-Labels: Inbox,Unread,Work\n" + mail("a") + b"\n" + mbox("b")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_database(Home.database_of(tmp_path / "home"))
    monkeypatch.setenv("SVC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SVC_MASTER_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("SVC_LOG", "readable")
    (tmp_path / "old.mbox").write_bytes(MAILS)


def svc(*arguments: str | Path) -> int:
    return cli.main([str(one) for one in ("mail", *arguments)])


def test_one_mail_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.eml").write_bytes(b"Subject: one\n\nAlone.\n")
    assert svc("import", tmp_path / "one.eml") == 0
    assert "1 mail imported, 0 were here already" in capsys.readouterr().err
    assert svc("import", tmp_path / "one.eml") == 0
    assert "0 mails imported, 1 was here already" in capsys.readouterr().err


def test_in_and_out_and_in_again_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert svc("import", tmp_path / "old.mbox") == 0
    assert "2 mails imported, 0 were here already, 0 passed over" in capsys.readouterr().err
    assert svc("import", tmp_path / "old.mbox") == 0
    assert "0 mails imported, 2 were here already" in capsys.readouterr().err
    assert svc("export", tmp_path / "out.mbox") == 0
    assert "2 mails exported" in capsys.readouterr().err
    first = (tmp_path / "out.mbox").read_bytes()
    assert svc("export", tmp_path / "out.mbox", "--account", "Imported") == 0
    assert (tmp_path / "out.mbox").read_bytes() == first
    assert svc("export", "--format", "maildir", tmp_path / "box") == 0
    names = sorted(one.name for one in (tmp_path / "box" / "cur").iterdir())
    assert [name.rpartition(",")[2] for name in names].count("S") == 1
    assert svc("export", "--format", "maildir", tmp_path / "box") == 0
    assert sorted(one.name for one in (tmp_path / "box" / "cur").iterdir()) == names
    capsys.readouterr()
    assert svc("import", tmp_path / "box", "--local", "Two") == 0
    assert "2 mails imported" in capsys.readouterr().err
    assert svc("export", tmp_path / "two.mbox", "--account", "two") == 0
    assert entries((tmp_path / "two.mbox").read_bytes()) == entries(first)


def test_for_a_path_that_was_mistyped_no_home_and_no_account_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SVC_HOME", str(tmp_path / "other"))
    assert svc("import", tmp_path / "no.mbox") == 1
    assert f"{tmp_path / 'no.mbox'} can’t be read" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_mailbox_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(_Pipe(MAILS))))
    assert svc("import", "-", "--local", "Piped") == 0
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out, flush=lambda: None))
    assert svc("export", "-") == 0
    assert out.getvalue().count(b"Subject: ") == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("import", "none.mbox"), "can’t be read"),
        (("import", "old.mbox", "--account", "me@example.org"), "no account me@example.org"),
        (("import", "old.mbox", "--local", "me@example.org"), "plain name"),
        (("import", "key"), "no mailbox"),
        (("export", "out.mbox", "--account", "none"), "no account none"),
        (("export", "none/out.mbox", "--account", "imported"), "can’t be written"),
    ],
)
def test_what_can_not_be_is_refused_in_words(
    arguments: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    svc("import", "old.mbox")
    capsys.readouterr()
    assert svc(*arguments) == 1
    assert told in capsys.readouterr().err


def test_two_options_that_exclude_each_other_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert svc("import", "old.mbox", "--account", "a", "--local", "b") == 2
    assert "not both" in capsys.readouterr().err


class _Pipe(io.RawIOBase):
    """What has no way back."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._data.readinto(buffer)
