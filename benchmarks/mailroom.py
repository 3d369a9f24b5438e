"""A store, a mailbox in memory and the fetcher between them, without the rest of the service; and the mails for it.

The mails are the real ones of the corpus where it is in the cache (``tests/formats/mime/corpus.py``), else made up.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, cast

from svc.app import FEATURES
from svc.clock import WallClock
from svc.fakes.mail.provider import FakeWorld
from svc.log import Log
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import progress
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.mail.providers.seam import MessageRef
from svc.mail.search.following import CONSUMER as SEARCH_CONSUMER
from svc.mail.search.tasks import Indexer
from svc.mail.sync.fetch import Fetched, Fetcher
from svc.mail.sync.ingest import FullSyncPage
from svc.mail.sync.pages import PAGE_SIZE
from svc.nursery import ProcessPool, ThreadPool, open_task_group
from svc.principal import UNCLAIMED
from svc.store import Blobs, Consumer, Following, Store
from svc.store.consumers import register
from tests.formats.mime import corpus
from tests.support.process import ServiceProcess, until

ADDRESS: Final = "bench@example.org"
FIRST_ARRIVAL_MS: Final = 1_700_000_000_000
MAILS_A_THREAD: Final = 2
THREADS: Final = 16
PROCESSES: Final = 2
MADE_UP_WORDS: Final = (
    "budget",
    "harbour",
    "meeting",
    "notes",
    "paper",
    "quarter",
    "review",
    "studio",
    "ticket",
    "week",
)


@dataclass(frozen=True, kw_only=True)
class Mailroom:
    store: Store
    threads: ThreadPool
    processes: ProcessPool
    fetcher: Fetcher
    account_id: str
    refs: Sequence[MessageRef]
    """Every message of the mailbox, newest first."""

    def pages(self) -> list[Sequence[MessageRef]]:
        return [self.refs[start : start + PAGE_SIZE] for start in range(0, len(self.refs), PAGE_SIZE)]

    def indexer(self) -> Indexer:
        """Not running: it works when it is told."""
        rows: tuple[Consumer[None], ...] = (cast("Consumer[None]", SEARCH_CONSUMER),)
        following = Following(
            store=self.store,
            clock=self.fetcher.clock,
            rng=Random(1),
            log=self.fetcher.log,
            context=None,
            rows=rows,
        )
        return Indexer(
            store=self.store,
            blobs=self.fetcher.blobs,
            threads=self.threads,
            processes=self.processes,
            log=self.fetcher.log,
            follow=partial(following.catch_up, SEARCH_CONSUMER.name),
            debounce_s=1,
        )

    async def account(self) -> Account:
        account = await self.store.read(account_queries.account, self.account_id)
        assert account is not None
        return account


@asynccontextmanager
async def open_mailroom(home: Path, mails: Sequence[bytes]) -> AsyncIterator[Mailroom]:
    """A fresh database, and an account whose mailbox holds ``mails`` and whose sweep has begun."""
    (home / "blobs").mkdir(parents=True)
    clock = WallClock()
    log = Log.to_stderr(form="readable", clock=clock, level="error")
    threads = ThreadPool(limit=THREADS, name="bench")
    fake_mail = FakeWorld(journal=_journal(home, mails), clock=clock, threads=threads)
    fake_mail.load()
    provider = fake_mail.provider(ADDRESS)
    store = Store.open(
        home / "svc.sqlite3",
        clock=clock,
        threads=threads,
        migrations=[feature.migrations for feature in FEATURES if feature.migrations],
    )
    store.write_now(register, names=[SEARCH_CONSUMER.name])
    account_id = store.write_now(account_actions.connect, UNCLAIMED, address=ADDRESS, provider="fake")
    store.write_now(progress.begin_full_sync, account_id=account_id, cursor="1", total=len(mails))
    try:
        async with ProcessPool(limit=PROCESSES, name="bench") as processes, open_task_group() as nursery:
            nursery.start_soon(lambda: store.run_writer(started=lambda: None))
            listed = await provider.list_messages(limit=len(mails))
            fetcher = Fetcher(
                account_id=account_id,
                provider=provider,
                blobs=Blobs.open(home / "blobs", threads=threads),
                threads=threads,
                processes=processes,
                clock=clock,
                log=log,
            )
            yield Mailroom(
                store=store,
                threads=threads,
                processes=processes,
                fetcher=fetcher,
                account_id=account_id,
                refs=listed.messages,
            )
            nursery.cancel_scope.cancel()
    finally:
        store.close_now()


def page_of(fetched: Fetched) -> FullSyncPage:
    seen = tuple(message.provider_message_id for message in fetched.incoming)
    return FullSyncPage(incoming=fetched.incoming, seen=seen, passed=fetched.passed, next_page_token="more")


def real_mail_paths() -> Sequence[Path]:
    """The corpus, or nothing where it is not in the cache."""
    return corpus.every_path() if corpus.is_present() else ()


def some_mails(wanted: int) -> tuple[list[bytes], str]:
    """``wanted`` mails, spread over the corpus, and what they are."""
    paths = real_mail_paths()
    if not paths:
        return [
            _made_up(number) for number in range(wanted)
        ], "made up, since the SpamAssassin corpus is not in the cache"
    spread = [paths[number * len(paths) // wanted] for number in range(min(wanted, len(paths)))]
    return [path.read_bytes() for path in spread], "real ones, spread over the SpamAssassin corpus"


def _journal(home: Path, mails: Sequence[bytes]) -> Path:
    """The fake mailboxes' journal as if each mail had been injected. It is written at once; hooks sync each mail."""
    path = home / "fake.jsonl"
    with path.open("w") as file:
        for number, raw in enumerate(mails):
            entry = {
                "op": "insert",
                "address": ADDRESS,
                "id": f"m{number}",
                "thread": f"t{number // MAILS_A_THREAD}",
                "labels": ["INBOX", "UNREAD"],
                "at": FIRST_ARRIVAL_MS + number * 1_000,
                "raw": base64.b64encode(raw).decode(),
            }
            file.write(json.dumps(entry) + "\n")
    return path


def _made_up(number: int) -> bytes:
    """Always the same mail for the same number: a few paragraphs, every third with HTML, every tenth with a file."""
    rng = Random(number)
    text = "\n\n".join(" ".join(rng.choices(MADE_UP_WORDS, k=60)) + "." for _ in range(4))
    message = EmailMessage()
    message["From"] = f"Sender {number % 97} <sender{number % 97}@example.org>"
    message["To"] = ADDRESS
    message["Subject"] = " ".join(rng.choices(MADE_UP_WORDS, k=5))
    message["Message-ID"] = f"<{number}@bench.example.org>"
    message.set_content(text)
    if number % 3 == 0:
        paragraphs = "".join(f"<p style='margin:0'>{part}</p>" for part in text.split("\n\n"))
        message.add_alternative(f"<html><body>{paragraphs}</body></html>", subtype="html")
    if number % 10 == 0:
        message.add_attachment(rng.randbytes(20_000), maintype="application", subtype="pdf", filename="notes.pdf")
    return message.as_bytes()


def sync_disks() -> None:
    """Before a round: what the round before left to be written is not charged to the next.

    A round of many files leaves them until the last round has ended: ext4 without a journal looks at each inode that
    became free in the last minutes before it gives a new one, and that took up to a third of the next round.
    """
    os.sync()


def wait_for_rows(service: ServiceProcess, table: str, wanted: int, *, deadline_s: float) -> None:
    """Wait until the table has so many rows. One connection looks often: each new one reads the whole schema, and that
    took a part of a processor from the service."""
    with service.reading() as database:

        def is_there() -> bool:
            return bool(database.execute(f"select count(*) = ? from {table}", (wanted,)).fetchone()[0])

        until(is_there, what=f"{wanted} rows in {table}", deadline_s=deadline_s, tell=service.log)
