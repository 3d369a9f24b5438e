"""``svc import``: an export into an empty home. All of it is compared with its manifest before anything is kept.

The order: people who may sign in, files, mail, pages, preferences. Pages keep their paths, files their ids, so that
links hold. The home stays as it was found where the archive is not whole. Each step may be done again: one that was cut
off goes on where the same archive is given again, which the home knows by the hash of its manifest until all is there.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final, Literal

import msgspec
import trio

from svc.command import OK, Invocation, OpenedHome
from svc.errors import Conflict, Invalid
from svc.export import rows
from svc.export.reading import PIECE_BYTES, Bag, open_bag
from svc.files import add_file
from svc.identity import ClaimHook, bring_back
from svc.mail import MailTally, create_local, import_mail, open_mail
from svc.nursery import open_task_group
from svc.okf import read
from svc.pages import Grant, alone, readable_page
from svc.preferences import bring_back as bring_preferences_back
from svc.principal import Principal, system
from svc.store import Home, Tx

ME: Final = system("import")
UNDER_WAY: Final = "import"
"""What the home has of an archive that is not all there yet: the hash of its manifest."""
NOT_EMPTY: Final = "The home is not empty: give a new one in SVC_HOME. An import never changes what is there."
ANY_SIZE: Final = 2**50
ADDRESSED: Final = "@"


class UserIn(msgspec.Struct, frozen=True):
    email: str
    name: str
    role: Literal["admin", "member"]


class FileIn(msgspec.Struct, frozen=True):
    id: str
    sha256: str
    name: str
    mime: str
    size: int
    path: str
    owner: str | None = None


class MailIn(msgspec.Struct, frozen=True):
    address: str
    provider: str
    files: tuple[str, ...]
    mails: int
    owner: str | None = None


class GrantIn(msgspec.Struct, frozen=True):
    to: str
    level: Literal["read", "write"]


class PageIn(msgspec.Struct, frozen=True):
    path: str
    title: str
    file: str
    access: Literal["inherited", "explicit"]
    grants: tuple[GrantIn, ...]
    owner: str | None = None


class PreferencesIn(msgspec.Struct, frozen=True):
    wanted: msgspec.Raw
    owner: str | None = None


@dataclass(kw_only=True)
class Importing:
    """``users`` are ids by address."""

    call: Invocation
    opened: OpenedHome
    bag: Bag
    hooks: Sequence[ClaimHook]
    users: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    async def run(self) -> None:
        store, home, name = self.opened.store, self.opened.home.path, self.bag.digest()
        goes_on = Home.told(home, UNDER_WAY) == name
        if not goes_on and not await store.read(rows.is_empty):
            raise Conflict(NOT_EMPTY)
        Home.tell(home, UNDER_WAY, name)
        people = [(one.email, one.name, one.role) for one in self.bag.json("data/users.json", form=list[UserIn])]
        async with open_task_group() as nursery:
            nursery.start_soon(partial(store.run_writer, started=lambda: None))
            self.users = await store.read(rows.ids_of_users) if goes_on else {}
            if people and not self.users:
                self.users = await store.write(bring_back, people=people, hooks=self.hooks, refused=NOT_EMPTY)
            await self._files()
            await self._mail()
            await self._pages()
            for one in self.bag.json("data/preferences.json", form=list[PreferencesIn]):
                wanted: object = msgspec.json.decode(one.wanted)
                await store.write(bring_preferences_back, user_id=self._user(one.owner), wanted=wanted)
            Home.tell(home, UNDER_WAY, "")
            nursery.cancel_scope.cancel()

    def _user(self, address: str | None) -> str | None:
        return None if address is None else self.users.get(address)

    async def _files(self) -> None:
        files = self.bag.json("data/files.json", form=list[FileIn])
        for one in files:
            with self.bag.opened(one.path) as file:
                ref = await self.opened.blobs.put_stream(_pieces(file), limit=ANY_SIZE)
            if (ref.sha256, ref.size) != (one.sha256, one.size):
                raise Invalid(f"{one.path} is another file than data/files.json says.")
            owner_id = self._user(one.owner)
            await self.opened.store.write(
                partial(
                    add_file,
                    id=one.id,
                    owner_id=owner_id,
                    sha256=ref.sha256,
                    name=one.name,
                    mime=one.mime,
                    size=ref.size,
                    origin="upload",
                )
            )
        self.told.append(f"{len(files):,} files")

    async def _mail(self) -> None:
        """Each mailbox becomes an account that is kept here: a server's own is connected again by its owner."""
        tally = MailTally()
        for one in self.bag.json("data/mail.json", form=list[MailIn]):
            owner = Principal(user_id=self._user(one.owner), device_id=ME.device_id, is_admin=True, via="session")
            name = one.address.replace(ADDRESSED, " at ")
            account_id = await self.opened.store.write(create_local, owner, name=name)
            for path in one.files:
                with self.bag.opened(path) as file:
                    source = open_mail(file, name="all.mbox", format="mbox")
                    await import_mail(self.call, self.opened, account_id, source, tally)
        if tally.skipped:
            self.told.append(f"{tally.skipped:,} mails passed over: {'; '.join(tally.reasons)}")
        self.told.append(f"{tally.added:,} mails")

    async def _pages(self) -> None:
        pages = sorted(self.bag.json("data/pages.json", form=list[PageIn]), key=lambda one: one.path)
        for one in pages:
            with self.bag.opened(one.file) as file:
                body = read(file.read()).body
            await self.opened.store.write(_page, one, body=body, users=self.users)
        self.told.append(f"{len(pages):,} pages")


def _page(tx: Tx, one: PageIn, *, body: str, users: dict[str, str]) -> None:
    """Made, or, where the claim or the mail has made one there already, written: what is exported counts."""
    owner_id = None if one.owner is None else users.get(one.owner)
    alone.make(tx, ME, owner_id=owner_id, path=one.path, title=one.title, body=body)
    page = readable_page(tx, ME, one.path)
    assert page is not None, "it is there now"
    alone.write(tx, ME, page, title=one.title, body=body)
    known = [(grant.to if grant.to == "everyone" else users.get(grant.to), grant.level) for grant in one.grants]
    alone.share(tx, ME, page, access=one.access, grants=[Grant(to=to, level=of) for to, of in known if to is not None])


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await trio.to_thread.run_sync(file.read, PIECE_BYTES):
        yield piece


def run(call: Invocation, *, hooks: Sequence[ClaimHook]) -> int:
    """The command. ``hooks``: what each feature does when the instance is claimed."""
    with open_bag(Path(call.given["source"])) as bag:
        count = bag.check()
        print(f"{count:,} files of the archive are whole", file=sys.stderr, flush=True)
        with call.home() as opened:
            going = Importing(call=call, opened=opened, bag=bag, hooks=hooks)
            trio.run(going.run)
    print(f"Imported {', '.join(going.told)}", file=sys.stderr, flush=True)
    if going.users:
        print("Everybody signs in as before; mailboxes of a server are connected again.", file=sys.stderr, flush=True)
    return OK
