"""An export is a BagIt bag that anybody can check, and its import restores what was exported."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
import trio

from svc import cli
from svc.clock import VirtualClock
from svc.export import choices
from svc.export.bag import Names, safe
from svc.export.choices_back import Choices
from svc.meetings import Line, actions
from svc.okf import read
from svc.store import Home, Store, Tx
from svc.tools.taint import taint_page
from tests.files.uploads import uploaded
from tests.full_disk import files_end_at
from tests.identity.people import Person, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service

SAID: Final = ("revisions", "drafts", "blocked", "aside", "deleted", "deleted pages")
CHOICES: Final = ("snippets", "trusted-senders", "mailboxes", "notifications", "sorting")
HOSTILE: Final = 'a/../b "c"\u202e.txt'


def bag_of(archive: bytes) -> dict[str, bytes]:
    """By name below the top; its manifest holds of it."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            assert member.name.startswith("svc-export/")
            found[member.name.removeprefix("svc-export/")] = file.read()
    lines = found["manifest-sha256.txt"].decode().split("\n")[:-1]
    sums = {line.partition("  ")[2]: line.partition("  ")[0] for line in lines}
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in found.items() if name.startswith("data/")}
    return found


def said(bag: dict[str, bytes]) -> dict[str, Any]:
    """All of an export that does not name the moment or the home."""
    pages = json.loads(bag["data/pages.json"])
    files = json.loads(bag["data/files.json"])
    return {
        "users": sorted(json.loads(bag["data/users.json"]), key=lambda one: str(one["email"])),
        "files": [(one, bag[one["path"]]) for one in files],
        "mail": sorted(
            (one["owner"], one["mails"], mails_in(b"".join(bag[file] for file in one["files"])))
            for one in json.loads(bag["data/mail.json"])
        ),
        "pages": [({**one, "file": ""}, read(bag[one["file"]]).body) for one in pages],
        "preferences": json.loads(bag["data/preferences.json"]),
        "revisions": [({**one, "file": ""}, bag[one["file"]]) for one in json.loads(bag["data/revisions.json"])],
        "drafts": sorted(
            ({**as_kept(one), "sendAt": None, "wasToBeSent": False} for one in json.loads(bag["data/drafts.json"])),
            key=lambda one: str(one["id"]),
        ),
        "blocked": [as_kept(one) for one in json.loads(bag["data/blocked-senders.json"])],
        "aside": [as_kept(one) for one in json.loads(bag["data/muted-and-snoozed.json"])],
        "deleted": [(one, bag[one["path"]]) for one in json.loads(bag["data/deleted-files.json"])],
        "deleted pages": [
            (one, [bag[text["file"]] for text in one["revisions"]])
            for one in json.loads(bag["data/deleted-pages.json"])
        ],
        "choices": {name: json.loads(bag[f"data/{name}.json"]) for name in CHOICES if name != "mailboxes"},
        "mailboxes": [as_kept(one) for one in json.loads(bag["data/mailboxes.json"])],
        "meetings": [json.loads(data) for name, data in bag.items() if name.startswith("data/meetings/")],
    }


def as_kept(one: dict[str, Any]) -> dict[str, Any]:
    """In an account that is kept here, as it is after an import."""
    return {**one, "account": (one["account"] or "").replace("@", " at ")}


def mails_in(mbox: bytes) -> list[bytes]:
    return sorted(one.strip(b"\n") for one in (b"\n" + mbox).split(b"\nFrom "))


async def lived_in(service: Service) -> Person:
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite", email="ben@example.org")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    file = await uploaded(mia, b"an upload" * 500_000, **{"x-svc-filename": "plan.txt"})
    await mia.mutate(
        "pages.save", path="plan", title="The: plan", body=f"---\nkey: x\n---\n[plan](/files/{file['id']}/content)\n"
    )
    await mia.mutate("pages.save", path="plan/below", body="From here\n\n---\nno: front matter\n")
    users = {one["email"]: one["id"] for one in await mia.query("users.list")}
    grants = [{"to": users["ben@example.org"], "level": "write"}]
    await mia.mutate("pages.setAccess", path="plan", access="explicit", grants=grants)
    await ben.mutate("pages.save", path="private", body="Ben's alone.\n")
    await mia.mutate("preferences.set", startPage="pages")
    for number in range(3):
        text = "From me\n>From you"
        mail = {"address": MIA, "from": "Noa <noa@elsewhere.example>", "subject": f"mail {number}", "text": text}
        attachments = [{"filename": "a.txt", "mime": "text/plain", "content": "YQ=="}] if number == 0 else []
        labels = ["INBOX", "STARRED"] if number else ["INBOX", "UNREAD"]
        await mia.mutate("fake.mail.inject", **mail, labels=labels, attachments=attachments)
    await mia.mutate("fake.mail.syncNow", address=MIA)
    await worked_with(mia, file["id"])
    await chosen_by(mia, colleague=users["ben@example.org"])
    await service.workspace.store.write(met, owner_id=users[MIA], file_id=file["id"])
    for path, writer in (("private", None), ("plan/below", "system:rules"), ("gone", None)):
        every = "select id, path from pages union all select id, path from page_trash"
        ((page_id,),) = await service.rows(f"select id from ({every}) where path = :path", path=path)
        await service.workspace.store.write(taint_page, page_id, run_id=writer)
    return mia


async def worked_with(mia: Person, file_id: str) -> None:
    """One of each kind of thing that is neither a mail nor the newest text of a page."""
    await mia.mutate("pages.save", path="plan", title="The plan", body="Another text.\n")
    await mia.mutate("pages.save", path="plan", title="The plan", body=f"[plan](/files/{file_id}/content)\n")
    gone = await uploaded(mia, b"deleted", **{"x-svc-filename": "gone.txt"})
    await mia.mutate("files.delete", id=gone["id"])
    await mia.mutate("pages.save", path="gone", title="One: day", body=f"[plan](/files/{file_id}/content)\n")
    await mia.mutate("pages.save", path="gone", title="One: day", body="---\nkey: kept\n---\nThe last text.\n")
    await mia.mutate("pages.save", path="gone/below", body=f"[plan](/files/{file_id}/content)\n")
    await mia.mutate("pages.setAccess", path="gone", access="explicit", grants=[{"to": "everyone", "level": "read"}])
    await mia.mutate("pages.delete", path="gone")
    (account,) = await mia.query("mail.accounts")
    threads = (await mia.query("mail.threads", section="all"))["threads"]
    muted, snoozed, answered = (one["id"] for one in threads)
    (message,) = (await mia.query("mail.thread", id=answered))["messages"]
    await mia.mutate("mail.mute", threadIds=[muted])
    await mia.mutate("mail.snooze", threadIds=[snoozed], until="2027-01-01T08:00:00Z")
    await mia.mutate("mail.blockSender", messageId=message["id"], to="trash", everywhere=True)
    written = {"accountId": account["id"], "to": ["noa@elsewhere.example"], "html": "<p>Later</p>"}
    quote = {"messageId": message["id"], "kind": "reply"}
    await mia.mutate(
        "mail.saveDraft", **written, subject="A draft", attachments=[file_id], replyTo=answered, quote=quote
    )
    await mia.mutate("mail.send", **written, subject="To be sent", sendAt="2026-12-24T18:00:00Z")


async def chosen_by(mia: Person, *, colleague: str) -> None:
    """One of each kind of thing that a person sets, or teaches svc."""
    (account,) = await mia.query("mail.accounts")
    await mia.mutate("mail.saveSnippet", name="Thanks", html="<p><b>Thanks</b></p>", subject="Re", to=["noa@e.example"])
    await mia.mutate("mail.setSignature", accountId=account["id"], html="<p>Mia</p>")
    await mia.mutate("mail.trustSender", address="noa@elsewhere.example", trusted=True)
    await mia.mutate("mail.shareAccount", accountId=account["id"], userId=colleague, access="read")
    quiet = {"timeZone": "Europe/Berlin", "begin": 1_320, "end": 420}
    await mia.mutate("notifications.set", accountIds=[account["id"]], words="sender", quiet=quiet)
    await mia.mutate("triage.set", enabled=True, asksModel=False)
    (first, *_) = (await mia.query("mail.threads", section="all"))["threads"]
    await mia.mutate("triage.correct", threadId=first["id"], kind="reading")


def met(tx: Tx, *, owner_id: str, file_id: str) -> None:
    """A meeting that is over."""
    meeting = actions.begin(tx, owner_id=owner_id, title="Plan", format="opus", rate=48_000)
    actions.end_recording(tx, meeting, sound_ms=2_000, ended_at=meeting.started_at + 2_000)
    for start_ms, text in ((0, "Good <b>morning"), (1_000, "Bye")):
        actions.add_line(tx, meeting.id, Line(start_ms=start_ms, end_ms=start_ms + 900, text=text, speaker="One"))
    tx.run("update meetings set file_id = :file_id where id = :id", id=meeting.id, file_id=file_id)
    actions.finish(tx, meeting, body="Summary", problem="")


@pytest.mark.thorough
async def test_nothing_is_lost_on_the_way_out_and_in_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("SVC_MASTER_KEY_FILE", "key"), ("XDG_CONFIG_HOME", "config")):
        monkeypatch.setenv(name, str(tmp_path / name / value))
    (tmp_path / "SVC_MASTER_KEY_FILE").mkdir()
    async with open_service(tmp_path / "old", clock=wall, log=log, PROVIDERS="fake") as service:
        mia = await lived_in(service)
        reply = await mia.ask("GET", "/export")
        assert reply.status == 200
        assert (await service.get("/export")).status == 401
        ben = await sign_in(service, "ben@example.org")
        assert (await ben.ask("GET", "/export")).status == 403
        bag = bag_of(reply.body)
    (tmp_path / "all.tar").write_bytes(reply.body)

    async def svc(home: str, *words: str | Path) -> int:
        monkeypatch.setenv("SVC_HOME", str(tmp_path / home))
        return await trio.to_thread.run_sync(partial(cli.main, [str(word) for word in words]))

    assert await svc("new", "import", tmp_path / "all.tar") == 0
    assert await svc("new", "import", tmp_path / "all.tar") == 0  # its end was not heard perhaps: nothing is changed
    assert await svc("new", "fsck", "--deep") == 0
    assert await svc("new", "export", tmp_path / "again.tar") == 0
    assert await svc("new", "export", tmp_path / "again.tar") == 1  # nothing is written over
    assert await svc("new", "import", tmp_path / "again.tar") == 1  # it is not empty any more
    again = bag_of((tmp_path / "again.tar").read_bytes())
    assert said(again) == said(bag)
    assert all(said(bag)["choices"].values())
    ((lines,), (shared,)) = ([one["lines"] for one in said(bag)["meetings"]], said(bag)["mailboxes"])
    assert (len(lines), shared["signature"], shared["sharedWith"][0]["person"]) == (2, "<p>Mia</p>", "ben@example.org")
    marks = {one["path"]: one.get("fromOutside") for one in json.loads(again["data/pages.json"])}
    gone = {one["path"]: one["fromOutside"] for one in json.loads(again["data/deleted-pages.json"])}
    found = (marks["private"], marks["plan/below"], marks["plan"], gone["gone"])
    assert found == ("run", "rules", None, "run"), "text of strangers stays so"
    assert {name: len(said(bag)[name]) for name in SAID} == {
        "revisions": 2,
        "drafts": 2,
        "blocked": 1,
        "aside": 2,
        "deleted": 1,
        "deleted pages": 2,
    }
    assert await svc("new", "export", tmp_path / "folder") == 0
    folder = {
        one.relative_to(tmp_path / "folder").as_posix() for one in (tmp_path / "folder").rglob("*") if one.is_file()
    }
    assert folder == set(again)
    assert await svc("third", "import", tmp_path / "folder") == 0

    with files_end_at(3 * 2**20):  # the disk is full in the middle
        assert await svc("cut", "import", tmp_path / "all.tar") == 1
    assert await svc("cut", "import", tmp_path / "again.tar") == 1, "another archive does not go on"
    assert await svc("cut", "import", tmp_path / "all.tar") == 0
    assert await svc("cut", "import", tmp_path / "all.tar") == 0
    assert await svc("cut", "fsck", "--deep") == 0
    assert await svc("cut", "export", tmp_path / "third.tar") == 0
    assert said(bag_of((tmp_path / "third.tar").read_bytes())) == said(bag)

    for harm in (reply.body[: len(reply.body) // 2], reply.body.replace(b"an upload", b"an upl0ad", 1)):
        (tmp_path / "harmed.tar").write_bytes(harm)
        assert await svc("fourth", "import", tmp_path / "harmed.tar") == 1
    assert not (tmp_path / "fourth" / "db" / "svc.sqlite3").exists()


async def test_a_home_that_is_in_use_or_not_empty_is_refused_before_the_whole_export_is_read(
    tmp_path: Path,
    wall: VirtualClock,
    log: RecordedLog,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "export" / "data").mkdir(parents=True)
    (tmp_path / "export" / "data" / "pages.json").write_text("[]")
    (tmp_path / "export" / "manifest-sha256.txt").write_text(f"{'0' * 64}  data/pages.json\n")  # found when it is read
    settings: dict[str, Any] = {"SVC_HOME": str(tmp_path / "home"), "SVC_MASTER_KEY_FILE": str(tmp_path / "key")}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    async def told(status: int) -> str:
        assert await trio.to_thread.run_sync(cli.main, ["import", str(tmp_path / "export")]) == status
        return capfd.readouterr().err

    async with open_service(tmp_path / "home", clock=wall, log=log, PROVIDERS="fake", **settings) as service:
        await sign_in(service, MIA)
    with Home.open(tmp_path / "home"):
        assert "is in use" in await told(75)
    assert "The home is not empty" in await told(1)
    monkeypatch.setenv("SVC_HOME", str(tmp_path / "new"))
    assert "data/pages.json is damaged" in await told(1)


async def test_quiet_hours_of_a_zone_that_is_not_known_here_are_left_out_and_said() -> None:
    back = Choices(store=cast(Store, None), user=lambda _: None, account=no_account)
    row = {"person": MIA, "words": "sender", "begin": 1_320, "end": 420}
    rows = [
        msgspec.convert({**row, "timeZone": zone}, choices.Notified) for zone in ("Europe/Berlin", "Europe/Nowhere")
    ]
    (left_out,) = await back.notifications(rows)
    assert left_out == f"no quiet hours for {MIA}: Europe/Nowhere is no time zone that is known here"


async def no_account(address: str, owner: str | None) -> str:
    raise AssertionError


def test_a_number_that_no_export_has_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"person": "a", "words": "all", "begin": %d}' % 2**70, type=choices.Notified)
    for name in ("rate", "startedAt", "endedAt", "soundMs"):
        told: dict[str, object] = {"id": "a", "title": "", "format": "opus", "problem": "", "lines": []}
        told |= {"rate": 1, "startedAt": 1, "endedAt": 1, "soundMs": 1}
        msgspec.json.decode(json.dumps(told), type=choices.Meeting)
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(json.dumps({**told, name: 2**70}), type=choices.Meeting)


def test_no_name_of_a_stranger_leads_anywhere_and_none_is_given_twice() -> None:
    names = Names()
    assert "/" not in safe(HOSTILE)
    assert safe("..") == "_"
    assert safe("x" * 300) == "x" * 180
    assert [names.free("a.md"), names.free("A.md"), names.free("a.md")] == ["a.md", "A~2.md", "a~3.md"]
    assert [names.free("A.MD/1.md"), names.free("a.md/2.md")] == ["A.MD~2/1.md", "a.md~2/2.md"]
    assert [names.free("b.md/1.md"), names.free("b.md")] == ["b.md/1.md", "b~2.md"]
