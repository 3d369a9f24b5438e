"""The main job at Dovecot: a mailbox of real mail is connected by a password, read, and lived in from both sides.

The server and the service are processes of their own, and either dies and comes back: the service by ``kill -9`` at any
step of its work for the account, the server by a restart. Meanwhile mail comes, is moved, flagged and deleted there,
changed here, and folders are numbered anew. In the end both have the same mails, byte for byte, with the same labels.
What happens when is chosen anew in each run. A failure says its seed, and ``SVC_TEST_SEED=<seed>`` chooses the same
again.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import pytest

from svc.mail.model import SENT, SPAM, STARRED, TRASH, UNREAD
from tests.formats.mime import corpus
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot, dovecot
from tests.peers.maildirs import Maildirs, at_server
from tests.peers.needs import CORPUS, DOVECOT, MAILDIRS, needs
from tests.sizes import HANGS_S, IMAP_HOMES, IMAP_MAILS, KILLS_A_HOME, SOAK, TAKEN_UP_DRAFTS
from tests.support.process import RpcError, ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.peer, needs(DOVECOT, CORPUS)]

LABELS: Final = {"INBOX": "INBOX", "Sent": SENT, "Junk": SPAM, "Trash": TRASH, "Archive": "", "Boats": "folder/Boats"}
FLAGS: Final = ("", "(\\Seen)", "(\\Seen \\Flagged)", "($label1)")
LONGEST_LIFE_STEPS: Final = 30 * IMAP_MAILS
"""A first sync takes more steps than that, so that most lives end within it."""
STEPS_OF_A_DRAFT: Final = 45
MOMENTS: Final = 6
"""What happens in one life, at most."""
AGREE_DEADLINE_S: Final = HANGS_S * (10 if SOAK else 1)

Mailbox = Counter[tuple[str, frozenset[str]]]


@pytest.fixture
def server() -> Iterator[Dovecot]:
    with dovecot() as running:
        yield running


@dataclass(kw_only=True)
class Life:
    """A mailbox that two sides live in. ``story``: what happened, for who reads of a failure."""

    service: ServiceProcess
    server: Dovecot
    chance: random.Random
    story: list[str] = field(default_factory=list)

    def fill(self, mails: int) -> None:
        """All that go to one place at once: the server takes longer to sign somebody in than to take a mail."""
        everything = corpus.every_path()
        groups: dict[tuple[str, str], list[Path]] = {}
        for number, path in enumerate(everything[:: len(everything) // mails][:mails]):
            groups.setdefault((list(LABELS)[number % len(LABELS)], FLAGS[number % 4]), []).append(path)
        for (folder, flags), paths in groups.items():
            self.server.deliver(folder, *(path.read_bytes() for path in paths), flags=flags)

    def connect(self) -> None:
        server = self.server
        self.service.start(**self.settings)
        self.service.mutate(
            "mail.connectImap",
            address=ADDRESS,
            password=PASSWORD,
            imap={"host": "127.0.0.1", "port": server.tls_port, "security": "tls"},
            smtp={"host": "127.0.0.1", "port": server.submission_port, "security": "starttls"},
        )

    @property
    def settings(self) -> dict[str, str]:
        return {"SSL_CERT_FILE": str(self.server.certificate)}

    def something_happens(self) -> None:
        what = self.chance.choice((*THERE, *THERE, *HERE, "read"))
        folder = self.chance.choice(list(LABELS))
        self.story.append(f"{what} {folder}")
        if what in HERE:
            with suppress(OSError, HTTPException, RpcError):  # it died, or dies of this
                self._here(what)
        elif what == "read":
            with suppress(OSError, HTTPException):
                self.look()
        else:
            self._there(what, folder)

    def look(self) -> None:
        """The service reads the mailbox now; returns when it did."""
        (account,) = self.service.query("mail.accounts")
        self.service.mutate("mail.retryFailures", accountId=account["id"])

    def _there(self, what: str, folder: str) -> None:
        server, chance = self.server, self.chance
        uids = server.uids(folder)
        match what:
            case "new":
                name = f"new-{chance.randrange(10**9)}"
                raw = f"Message-ID: <{name}@mail.test>\r\nSubject: {name}\r\n\r\nHello.\r\n".encode()
                server.deliver(folder, raw, flags=chance.choice(FLAGS))
            case "restart":
                server.stop()
                server.start()
            case "number anew" if folder not in {"INBOX", *SPECIAL}:
                server.count_anew(folder)
            case "move" if uids:
                other = chance.choice([one for one in LABELS if one != folder])
                server.do(folder, ("MOVE", chance.choice(uids), other))
            case "flag" if uids:
                flag = chance.choice(("(\\Seen)", "(\\Flagged)", "($label1)"))
                server.do(folder, ("STORE", chance.choice(uids), chance.choice(("+FLAGS", "-FLAGS")), flag))
            case "delete" if uids:
                uid = chance.choice(uids)
                server.do(folder, ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))

    def _here(self, procedure: str) -> None:
        section = self.chance.choice(("inbox", "skipped"))
        threads = self.service.query("mail.threads", section=section)["threads"]
        if not threads:
            return
        thread_id = self.chance.choice(threads)["id"]
        wanted: dict[str, Any] = {"threadId": thread_id} if procedure == "mail.open" else {"threadIds": [thread_id]}
        if procedure == "mail.setLabels":
            wanted["add"] = [self.chance.choice((TRASH, SPAM, STARRED, "folder/Boats"))]
        self.service.mutate(procedure, **wanted)

    def agree(self) -> None:
        """Nothing waits, and both have the same, byte for byte."""
        until(self.agrees, what="both sides to agree", deadline_s=AGREE_DEADLINE_S, tell=self.difference)
        assert self.service.rows("select * from mail_ledger where step <> 'change'") == []
        assert self.service.stop() == 0
        assert self.service.command("fsck", "--deep").stdout == "ok\n"
        assert PASSWORD not in self.service.log()

    def agrees(self) -> bool:
        with suppress(RpcError):
            self.look()
        (account,) = self.service.query("mail.accounts")
        is_quiet = account["state"] == "caught-up" and account["pending"] == 0
        return is_quiet and self.here() == self.there()

    def difference(self) -> str:
        here, there = self.here(), self.there()
        accounts = self.service.query("mail.accounts")
        pending = self.service.rows("select * from mail_mirror")
        return f"{self.story}\n{accounts}\n{pending}\nonly here {here - there}\nonly there {there - here}"

    def here(self) -> Mailbox:
        rows = self.service.rows(
            "select raw_sha256, (select group_concat(value) from json_each(labels)) from mail_messages"
        )
        return Counter((sha256, frozenset((labels or "").split(",")) - {""}) for sha256, labels in rows)

    def there(self) -> Mailbox:
        found: Mailbox = Counter()
        for folder, label in LABELS.items():
            for raw, flags in self.server.mails(folder):
                labels = {label, *(UNREAD for _ in [0] if "\\Seen" not in flags)}
                labels |= {STARRED} if "\\Flagged" in flags else set()
                labels |= {f"keyword/{flag}" for flag in flags if not flag.startswith("\\")}
                found[hashlib.sha256(raw).hexdigest(), frozenset(labels) - {""}] += 1
        return found


THERE: Final = ("new", "move", "delete", "flag", "number anew", "restart")
HERE: Final = ("mail.archive", "mail.unarchive", "mail.open", "mail.markUnread", "mail.setLabels")
SPECIAL: Final = ("Sent", "Junk", "Trash", "Archive")
"""Their use goes with their name: renamed, they would be folders like others."""


@pytest.fixture
def life(tmp_path: Path, server: Dovecot, chance: random.Random) -> Iterator[Life]:
    with ServiceProcess(tmp_path) as service:
        server.empty()
        server.make("Boats")
        yield Life(service=service, server=server, chance=chance)


def test_a_mailbox_of_real_mail_is_connected_read_and_lived_in(life: Life) -> None:
    life.fill(IMAP_MAILS)
    life.connect()
    until(lambda: life.here() == life.there(), what="all mail", deadline_s=AGREE_DEADLINE_S, tell=life.service.log)
    for _ in range(4 * MOMENTS):
        life.something_happens()
    life.agree()


@needs(MAILDIRS)
def test_mbsync_and_notmuch_have_the_same_mailbox(life: Life, tmp_path: Path) -> None:
    """All of it, and after changes on all three sides: at the server, here and in the Maildirs."""
    server, service, folders = life.server, life.service, list(LABELS)
    life.fill(IMAP_MAILS)
    names = ("Read there", "Moved there", "Deleted there", "Archived here")
    server.deliver("INBOX", *(_plain(name) for name in names))
    life.connect()
    peer = Maildirs(directory=tmp_path / "peer", server=server)
    peer.sync()
    until(lambda: life.here() == life.there(), what="all mail", deadline_s=AGREE_DEADLINE_S, tell=service.log)
    assert peer.shown(folders) == at_server(server, folders)
    assert peer.indexed() == life.here().total() == IMAP_MAILS + len(names)

    found = {name: path for path in peer.files("INBOX") for name in names if f"Subject: {name}\n" in _text(path)}
    peer.flag(found["Read there"], "FS")
    peer.move(found["Moved there"], "Archive")
    found["Deleted there"].unlink()
    threads = service.query("mail.threads", section="inbox")["threads"]
    (mine,) = (one["id"] for one in threads if one["subject"] == "Archived here")
    service.mutate("mail.archive", threadIds=[mine])
    until(life.agrees, what="both sides to agree", deadline_s=AGREE_DEADLINE_S, tell=life.difference)
    peer.sync()
    until(life.agrees, what="both sides to agree", deadline_s=AGREE_DEADLINE_S, tell=life.difference)
    assert peer.shown(folders) == at_server(server, folders)
    assert peer.indexed() == life.here().total() == IMAP_MAILS + len(names) - 1
    subjects = {folder: {name for name, _ in server.subjects(folder)} & set(names) for folder in folders}
    assert subjects["INBOX"] == {"Read there"}
    assert subjects["Archive"] == {"Moved there", "Archived here"}
    life.agree()


def _plain(name: str) -> bytes:
    mark = name.replace(" ", "-")
    return f"Message-ID: <{mark}@mail.test>\r\nSubject: {name}\r\n\r\nHello.\r\n".encode()


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


@pytest.mark.parametrize("home", range(IMAP_HOMES))
def test_a_service_that_is_killed_again_and_again_ends_in_the_same_state(life: Life, home: int) -> None:
    life.fill(IMAP_MAILS)
    life.connect()
    life.service.kill()
    for _ in range(KILLS_A_HOME):
        order = life.service.die_at(life.chance.randint(1, LONGEST_LIFE_STEPS), of="mail:")
        life.story.append(f"dies at {order.read_text()}")
        life.service.spawn(**life.settings)
        for _ in range(life.chance.randrange(MOMENTS)):
            life.something_happens()
        order.unlink()
        life.story.append("dead" if life.service.is_dead() else "killed from outside")
        life.service.kill()
        assert life.service.command("fsck").stdout == "ok\n", life.story
    life.service.start(**life.settings)
    life.agree()


def test_a_draft_is_one_copy_there_however_often_the_service_is_killed(life: Life) -> None:
    """By ``kill -9`` right after a change is stored, and at any step of telling the server of it."""
    service = life.service
    service.hurry()
    life.connect()
    (account,) = service.query("mail.accounts")
    wanted = {"accountId": account["id"], "to": ["bob@else.test"], "html": "<p>So far</p>"}
    saved = service.mutate("mail.saveDraft", subject="Boats 0", **wanted)
    for number in range(1, KILLS_A_HOME + 1):
        service.kill()
        order = service.die_at(life.chance.randint(1, STEPS_OF_A_DRAFT), of="drafts of")
        life.story.append(f"dies at {order.read_text()}")
        service.spawn(**life.settings)
        until(lambda: service.is_dead() or not _waits(service), what="the draft to be told", deadline_s=HANGS_S)
        order.unlink()
        service.kill()
        service.start(**life.settings)
        subject = f"Boats {number}"
        saved = service.mutate("mail.saveDraft", id=saved["id"], version=saved["version"], subject=subject, **wanted)
    service.kill()
    service.start(**life.settings)
    until(lambda: not _waits(service), what="the draft to be told", deadline_s=HANGS_S, tell=service.log)
    ((raw, flags),) = life.server.mails("Drafts")
    assert f"Subject: Boats {KILLS_A_HOME}\r\n".encode() in raw, life.story
    assert flags == {"\\Draft", "\\Seen"}
    life.look()
    assert life.here() == Counter(), life.story
    service.mutate("mail.deleteDraft", id=saved["id"])
    until(lambda: not life.server.mails("Drafts"), what="the copy to go", deadline_s=HANGS_S, tell=service.log)


def test_a_draft_that_goes_on_in_another_program_is_one_draft_however_often_the_service_is_killed(life: Life) -> None:
    """By ``kill -9`` at any step of following what was made of it there, and of telling what is made of that here."""
    service = life.service
    service.hurry()
    life.connect()
    (account,) = service.query("mail.accounts")
    wanted = {"accountId": account["id"], "to": ["bob@else.test"], "html": "<p>So far</p>"}
    draft_id = service.mutate("mail.saveDraft", subject="Boats 0", **wanted)["id"]
    _until_told(service, "Boats 0")
    for number in range(1, KILLS_A_HOME + 1):
        service.kill()
        _edit(life.server, f"Ships {number}")
        order = service.die_at(life.chance.randint(1, STEPS_OF_A_DRAFT), of="drafts of")
        life.story.append(f"dies at {order.read_text()}")
        service.spawn(**life.settings)
        until(lambda: service.is_dead() or not _is("Boats", service), what="the edit to be met", deadline_s=HANGS_S)
        order.unlink()
        service.kill()
        service.start(**life.settings)
        _until_told(service, f"Ships {number}")
        draft = service.query("mail.draft", id=draft_id)
        service.mutate("mail.saveDraft", id=draft_id, version=draft["version"], subject=f"Boats {number}", **wanted)
        _until_told(service, f"Boats {number}")
        ((raw, _),) = life.server.mails("Drafts")
        assert f"Subject: Boats {number}\r\n".encode() in raw, life.story
    life.look()
    assert life.here() == Counter(), life.story
    service.stop()
    assert service.command("fsck", "--deep").stdout == "ok\n", life.story


def test_a_draft_that_another_program_began_is_one_draft_however_often_the_service_is_killed(life: Life) -> None:
    """By ``kill -9`` at any step of taking it up and of its first change, or of telling the server of that."""
    service = life.service
    service.hurry()
    life.connect()
    for number in range(1, TAKEN_UP_DRAFTS + 1):
        theirs, ours = f"Ships {number}", f"Boats {number}"
        life.server.deliver("Drafts", _begun_elsewhere(theirs), flags="(\\Draft \\Seen)")
        life.look()
        ((message_id,),) = service.rows("select id from mail_messages where subject = ?", theirs)
        order = service.die_at(life.chance.randint(1, STEPS_OF_A_DRAFT), of=life.chance.choice((REQUESTS, "drafts of")))
        dies_at = order.read_text()
        order.unlink()
        service.kill()
        service.start(**life.settings)
        order.write_text(dies_at)
        with suppress(OSError, HTTPException):  # it dies of this
            _continue(service, message_id, ours)
            until(lambda: service.is_dead() or not _waits(service), what="it to be told", deadline_s=HANGS_S)
        life.story.append(f"{'dead' if service.is_dead() else 'alive'} at {dies_at} of {service.program[-1]}")
        order.unlink()
        service.kill()
        assert service.command("fsck").stdout == "ok\n", life.story
        service.start(**life.settings)
        draft_id = _continue(service, message_id, ours)
        _until_told(service, ours)
        ((raw, _),) = life.server.mails("Drafts")
        assert f"Subject: {ours}\r\n".encode() in raw, life.story
        life.look()
        assert life.here() == Counter(), life.story
        service.mutate("mail.deleteDraft", id=draft_id)
        until(lambda: not life.server.mails("Drafts"), what="the copy to go", deadline_s=HANGS_S, tell=service.log)
    service.stop()
    assert service.command("fsck", "--deep").stdout == "ok\n", life.story


REQUESTS: Final = "trio._highlevel_serve_listeners"
"""The tasks that serve a connection each."""


def _begun_elsewhere(subject: str) -> bytes:
    name = subject.replace(" ", "-")
    head = f"Message-ID: <{name}@else.test>\r\nFrom: {ADDRESS}\r\nTo: bob@else.test\r\nSubject: {subject}\r\n"
    return f"{head}Date: Mon, 2 Nov 2026 10:00:00 +0000\r\n\r\nSo far.\r\n".encode()


def _continue(service: ServiceProcess, message_id: str, subject: str) -> str:
    """Change what is continued here already, or what lies there; returns its id."""
    here = service.rows("select id from mail_drafts")
    draft_id = str(here[0][0]) if here else service.mutate("mail.takeUpDraft", messageId=message_id)["draftId"]
    draft = service.query("mail.draft", id=draft_id)
    wanted = {"accountId": draft["accountId"], "to": draft["to"], "html": draft["html"], "subject": subject}
    service.mutate("mail.saveDraft", id=draft_id, version=draft["version"], **wanted)
    return draft_id


def _edit(server: Dovecot, subject: str) -> None:
    """As another program does it: a new one beside the old one, which goes then."""
    ((raw, _),) = server.mails("Drafts")
    (uid,) = server.uids("Drafts")
    dated = re.sub(rb"(?m)^Date: .*$", b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r", raw)
    edited = re.sub(rb"(?m)^Subject: .*$", f"Subject: {subject}\r".encode(), dated)
    server.deliver("Drafts", edited, flags="(\\Draft \\Seen)")
    server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))


def _is(name: str, service: ServiceProcess) -> bool:
    return any(str(subject).startswith(name) for (subject,) in service.rows("select subject from mail_drafts"))


def _until_told(service: ServiceProcess, subject: str) -> None:
    """The one draft here is this, and the server has heard of it."""
    until(
        lambda: service.rows("select subject from mail_drafts") == [(subject,)] and not _waits(service),
        what=f"{subject} to be the draft",
        deadline_s=HANGS_S,
        tell=service.log,
    )


def _waits(service: ServiceProcess) -> bool:
    return bool(service.rows("select 1 from mail_draft_copies where next_at is not null"))
