"""``svc import``: reads an export into an empty home. The whole archive is compared with its manifest before anything
is stored.

The order: people who may sign in, files, mail and drafts, pages, what people have set, meetings. Mail that was to be
sent becomes a draft, so that two homes do not send it twice. Pages keep their paths and files their ids, so that links
still work. If the archive is not complete, the home does not change. Each step may be repeated: an interrupted import
continues when the same archive is given again, and one that was complete changes nothing. The home knows the archive
by the hash of its manifest.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Final, Literal, TypeVar

import msgspec
import trio

from svc.clock import SECOND_MS, Millis
from svc.command import OK, Invocation, OpenedHome, counted
from svc.errors import Conflict, Invalid
from svc.export import choices, rows
from svc.export.bag import MEETINGS
from svc.export.choices_back import Choices
from svc.export.reading import PIECE_BYTES, Bag, open_bag
from svc.files import UPLOAD, File, add_file, bring_back_deleted
from svc.identity import ClaimHook, bring_back
from svc.mail import MailTally, bringing_back, create_local, import_mail, open_mail
from svc.nursery import open_task_group
from svc.okf import read
from svc.pages import (
    EVERYONE,
    MAX_BODY_BYTES,
    DeletedPage,
    Earlier,
    Grant,
    alone,
    bring_back_deleted_page,
    readable_page,
)
from svc.preferences import bring_back as bring_preferences_back
from svc.principal import Principal, system
from svc.settings import HOME
from svc.store import BlobRef, Home, Tx
from svc.tools import bring_mark_back

T = TypeVar("T")

ME: Final = system("import")
MARK: Final = "import"
"""The mark of an import: the hash of the archive's manifest, after :data:`COMPLETE` at the end. Only one write tells
of the end: a process that dies right after it was not heard, and the same command is given again."""
COMPLETE: Final = "complete "
NOT_EMPTY: Final = "The home is not empty: give a new one in SVC_HOME. An import never changes what is there."
ANY_SIZE: Final = 2**50
ADDRESSED: Final = "@"


Id = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{1,100}$")]


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
    created_at: datetime | None = msgspec.field(name="createdAt", default=None)


class MailIn(msgspec.Struct, frozen=True):
    address: str
    provider: str
    files: tuple[str, ...]
    mails: int
    owner: str | None = None


class DeletedFileIn(FileIn, frozen=True, kw_only=True, rename="camel"):
    created_at: datetime
    deleted_at: datetime


class QuotesIn(msgspec.Struct, frozen=True):
    mail: str
    kind: Literal["reply", "forward"]


class DraftIn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``answers`` and ``quotes`` refer to mails by the hash of their bytes."""

    id: str
    account: str
    sender: str | None = msgspec.field(name="from", default=None)
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    attachments: tuple[str, ...]
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    answers: str | None = None
    quotes: QuotesIn | None = None
    was_to_be_sent: bool = False
    owner: str | None = None


class BlockedIn(msgspec.Struct, frozen=True):
    address: str
    to: bringing_back.BlockedTo
    account: str | None = None
    owner: str | None = None


class AsideIn(msgspec.Struct, frozen=True, rename="camel"):
    account: str
    mail: str
    snoozed_until: datetime | None = None


class RevisionIn(msgspec.Struct, frozen=True):
    path: str
    title: str
    at: datetime
    file: str
    author: str | None = None


class GrantIn(msgspec.Struct, frozen=True):
    to: str
    level: Literal["read", "write"]


class PageIn(msgspec.Struct, frozen=True, rename="camel"):
    """``from_outside``: the mark of a page with text that its people did not write themselves
    (:func:`svc.tools.page_mark`). ``author``: of its current text. An export of an earlier version has no times."""

    path: str
    title: str
    file: str
    access: Literal["inherited", "explicit"]
    grants: tuple[GrantIn, ...]
    owner: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    from_outside: str | None = None


class TextIn(msgspec.Struct, frozen=True):
    title: str
    at: datetime
    file: str
    author: str | None = None


class DeletedPageIn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``deletion``: the same for pages that were deleted together. ``revisions``: the newest last."""

    id: Id
    deletion: Id
    is_top: bool
    path: str
    access: Literal["inherited", "explicit"]
    grants: tuple[GrantIn, ...]
    files: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime
    revisions: Annotated[tuple[TextIn, ...], msgspec.Meta(min_length=1)]
    owner: str | None = None
    deleted_by: str | None = None
    from_outside: str | None = None


class PreferencesIn(msgspec.Struct, frozen=True):
    wanted: msgspec.Raw
    owner: str | None = None


@dataclass(kw_only=True)
class Importing:
    """``goes_on``: an earlier import of the same archive was interrupted. ``users`` are ids by address."""

    call: Invocation
    opened: OpenedHome
    bag: Bag
    hooks: Sequence[ClaimHook]
    goes_on: bool
    users: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    _accounts: dict[str, str] = field(default_factory=dict)

    async def run(self) -> None:
        store, home = self.opened.store, self.opened.home.path
        Home.tell(home, MARK, self.bag.digest())
        people = [(one.email, one.name, one.role) for one in self.bag.json("data/users.json", form=list[UserIn])]
        async with open_task_group() as nursery:
            nursery.start_soon(partial(store.run_writer, started=lambda: None))
            self.users = await store.read(rows.ids_of_users) if self.goes_on else {}
            if people and not self.users:
                self.users = await store.write(bring_back, people=people, hooks=self.hooks, refused=NOT_EMPTY)
            await self._files()
            await self._mail()
            await self._drafts()
            await self._blocked()
            await self._set_aside()
            await self._pages()
            await self._deleted_pages()
            for one in self.bag.json("data/preferences.json", form=list[PreferencesIn]):
                wanted: object = msgspec.json.decode(one.wanted)
                await store.write(bring_preferences_back, user_id=self._user(one.owner), wanted=wanted)
            await self._choices()
            Home.tell(home, MARK, COMPLETE + self.bag.digest())
            nursery.cancel_scope.cancel()

    def _user(self, address: str | None) -> str | None:
        return None if address is None else self.users.get(address)

    async def _files(self) -> None:
        files = self.bag.json("data/files.json", form=list[FileIn])
        holders = {file_id: one.id for one in self._some("data/drafts.json", DraftIn) for file_id in one.attachments}
        for one in files:
            ref = await self._kept(one)
            holder = holders.get(one.id)
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
                    origin=UPLOAD if holder is None else bringing_back.draft_origin(holder),
                    created_at=None if one.created_at is None else _millis(one.created_at),
                )
            )
        for gone in self._some("data/deleted-files.json", DeletedFileIn):
            ref = await self._kept(gone)
            file = File(
                id=gone.id,
                sha256=ref.sha256,
                name=gone.name,
                mime=gone.mime,
                size=ref.size,
                created_at=_millis(gone.created_at),
            )
            at, owner_id = _millis(gone.deleted_at), self._user(gone.owner)
            await self.opened.store.write(bring_back_deleted, file, owner_id=owner_id, deleted_at=at)
        self.told.append(counted(len(files), "file"))

    def _some(self, name: str, form: type[T]) -> list[T]:
        """The rows of a file; empty for an export of an earlier version, which lacks it."""
        return self.bag.json(name, form=list[form]) if name in self.bag.members else []  # type: ignore[valid-type]

    async def _kept(self, one: FileIn) -> BlobRef:
        with self.bag.opened(one.path) as file:
            ref = await self.opened.blobs.put_stream(_pieces(file), limit=ANY_SIZE)
        if (ref.sha256, ref.size) != (one.sha256, one.size):
            raise Invalid(f"{one.path} is another file than its list says.")
        return ref

    async def _account(self, address: str, owner: str | None) -> str:
        """The local account for the mail of an exported one."""
        if address not in self._accounts:
            principal = Principal(user_id=self._user(owner), device_id=ME.device_id, is_admin=True, via="session")
            name = address.replace(ADDRESSED, " at ")
            self._accounts[address] = await self.opened.store.write(create_local, principal, name=name)
        return self._accounts[address]

    async def _mail(self) -> None:
        """Import mail. Each mailbox becomes a local account: its owner connects an account of a server again."""
        tally = MailTally()
        for one in self.bag.json("data/mail.json", form=list[MailIn]):
            account_id = await self._account(one.address, one.owner)
            for path in one.files:
                with self.bag.opened(path) as file:
                    source = open_mail(file, name="all.mbox", format="mbox")
                    await import_mail(self.call, self.opened, account_id, source, tally)
        if tally.skipped:
            self.told.append(f"{counted(tally.skipped, 'mail')} passed over: {'; '.join(tally.reasons)}")
        self.told.append(counted(tally.added, "mail"))

    async def _drafts(self) -> None:
        drafts = self._some("data/drafts.json", DraftIn)
        for one in drafts:
            request = bringing_back.SendRequest(
                account_id=await self._account(one.account, one.owner),
                to=one.to,
                cc=one.cc,
                bcc=one.bcc,
                subject=one.subject,
                html=one.html,
                attachments=one.attachments,
                thread_id=None,
                quote=None,
                from_address=one.sender,
            )
            answers = bringing_back.Answers(in_reply_to=one.in_reply_to, references=one.references)
            await self.opened.store.write(
                bringing_back.draft,
                request,
                draft_id=one.id,
                owner_id=self._user(one.owner),
                answers=answers if one.in_reply_to is not None else None,
                mail=one.answers,
                quoted=None if one.quotes is None else (one.quotes.mail, one.quotes.kind),
            )
        if drafts:
            waited = sum(one.was_to_be_sent for one in drafts)
            said = f" ({waited:,} of them were to be sent, and were not)" if waited else ""
            self.told.append(f"{len(drafts):,} drafts{said}")

    async def _blocked(self) -> None:
        for one in self._some("data/blocked-senders.json", BlockedIn):
            account_id = None if one.account is None else await self._account(one.account, one.owner)
            owner_id, address = self._user(one.owner), one.address.casefold()
            await self.opened.store.write(
                bringing_back.block, owner_id=owner_id, account_id=account_id, address=address, to=one.to
            )

    async def _set_aside(self) -> None:
        for one in self._some("data/muted-and-snoozed.json", AsideIn):
            account_id = self._accounts.get(one.account)
            if account_id is None:
                continue
            if one.snoozed_until is None:
                await self.opened.store.write(bringing_back.mute, account_id=account_id, mail=one.mail)
            else:
                until = _millis(one.snoozed_until)
                await self.opened.store.write(bringing_back.snooze, account_id=account_id, mail=one.mail, until=until)

    def _earlier(self, revisions: Sequence[RevisionIn | TextIn]) -> list[Earlier]:
        found = []
        for one in revisions:
            with self.bag.opened(one.file) as file:
                body = file.read(MAX_BODY_BYTES + 1).decode("utf-8", "replace")
            found.append(Earlier(title=one.title, author_id=self._user(one.author), at=_millis(one.at), body=body))
        return found

    async def _pages(self) -> None:
        revisions: dict[str, list[RevisionIn]] = {}
        for earlier in self._some("data/revisions.json", RevisionIn):
            revisions.setdefault(earlier.path, []).append(earlier)
        pages = sorted(self.bag.json("data/pages.json", form=list[PageIn]), key=lambda one: one.path)
        for one in pages:
            with self.bag.opened(one.file) as file:
                body = read(file.read()).body
            before = self._earlier(revisions.get(one.path, ())) if "data/revisions.json" in self.bag.members else None
            await self.opened.store.write(_page, one, body=body, users=self.users, earlier=before)
        self.told.append(counted(len(pages), "page"))

    async def _choices(self) -> None:
        back = Choices(store=self.opened.store, user=self._user, account=self._account)
        await back.snippets(self._some("data/snippets.json", choices.Snippet))
        await back.trusted_senders(self._some("data/trusted-senders.json", choices.TrustedSender))
        await back.mailboxes(self._some("data/mailboxes.json", choices.Mailbox))
        self.told += await back.notifications(self._some("data/notifications.json", choices.Notified))
        await back.sorting(self._some("data/sorting.json", choices.Sorting))
        meetings = [name for name in self.bag.members if name.startswith(MEETINGS)]
        for name in meetings:
            await back.meeting(self.bag.json(name, form=choices.Meeting))
        if meetings:
            self.told.append(counted(len(meetings), "meeting"))

    async def _deleted_pages(self) -> None:
        deleted = self._some("data/deleted-pages.json", DeletedPageIn)
        here = {one.id for one in self.bag.json("data/files.json", form=list[FileIn])}
        for one in deleted:
            page = DeletedPage(
                id=one.id,
                deletion_id=one.deletion,
                is_top=one.is_top,
                path=one.path,
                owner_id=self._user(one.owner),
                access=one.access,
                created_at=_millis(one.created_at),
                updated_at=_millis(one.updated_at),
                deleted_at=_millis(one.deleted_at),
                deleted_by=self._user(one.deleted_by),
                revisions=self._earlier(one.revisions),
                grants=_grants(one.grants, self.users),
                file_ids=[file_id for file_id in one.files if file_id in here],
            )
            await self.opened.store.write(_deleted_page, page, mark=one.from_outside)
        if deleted:
            self.told.append(counted(len(deleted), "deleted page"))


def _deleted_page(tx: Tx, page: DeletedPage, *, mark: str | None) -> None:
    bring_back_deleted_page(tx, ME, page)
    if mark is not None:
        bring_mark_back(tx, page.id, mark)


def _page(tx: Tx, one: PageIn, *, body: str, users: dict[str, str], earlier: Sequence[Earlier] | None) -> None:
    """Create the page, or overwrite it where the claim or the mail has created one there: the exported text counts.
    ``earlier``: its earlier revisions, if they were exported."""
    owner_id = None if one.owner is None else users.get(one.owner)
    alone.make(tx, ME, owner_id=owner_id, path=one.path, title=one.title, body=body)
    page = readable_page(tx, ME, one.path)
    assert page is not None, "it is there now"
    alone.write(tx, ME, page, title=one.title, body=body)
    page = readable_page(tx, ME, one.path)
    assert page is not None, "it is there now"
    if one.from_outside is not None:
        bring_mark_back(tx, page.id, one.from_outside)
    if earlier is not None:
        alone.bring_history(tx, ME, page, earlier)
    if one.created_at is not None and one.updated_at is not None:
        author_id = None if one.author is None else users.get(one.author)
        times = {"created_at": _millis(one.created_at), "updated_at": _millis(one.updated_at)}
        alone.bring_times(tx, page, author_id=author_id, **times)
    alone.share(tx, ME, page, access=one.access, grants=_grants(one.grants, users))


def _grants(grants: Sequence[GrantIn], users: dict[str, str]) -> list[Grant]:
    """The grants, without those to people who are not here."""
    known = [(one.to if one.to == EVERYONE else users.get(one.to), one.level) for one in grants]
    return [Grant(to=to, level=level) for to, level in known if to is not None]


def _millis(at: datetime) -> Millis:
    return round(at.timestamp() * SECOND_MS)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await trio.to_thread.run_sync(file.read, PIECE_BYTES):
        yield piece


Begun = Literal["new", "interrupted", "complete"]


def _begun(opened: OpenedHome, bag: Bag) -> Begun:
    """How far an earlier import of this archive came. Raises :class:`Conflict` where the home has anything else."""
    digest, mark = bag.digest(), Home.told(opened.home.path, MARK)
    if mark == digest:
        return "interrupted"
    if opened.store.read_now(rows.is_empty):
        return "new"
    if mark == COMPLETE + digest:
        return "complete"
    raise Conflict(NOT_EMPTY)


def run(call: Invocation, *, hooks: Sequence[ClaimHook]) -> int:
    """The command. ``hooks``: what each feature does with a claim.

    An existing home is opened before the whole archive is read, which may take long: it may be in use, or not empty. A
    new home is made only after that, because the archive may be damaged.
    """
    with open_bag(Path(call.given["source"])) as bag, ExitStack() as homes:
        opened = homes.enter_context(call.home()) if Home.exists(call.config[HOME]) else None
        begun = "new" if opened is None else _begun(opened, bag)
        if begun == "complete":
            print("This export was imported here before: nothing is changed.", file=sys.stderr, flush=True)
            return OK
        count = bag.check()
        print(f"The export is whole: {counted(count, 'file')}", file=sys.stderr, flush=True)
        opened = opened or homes.enter_context(call.home(may_create=True))
        going = Importing(call=call, opened=opened, bag=bag, hooks=hooks, goes_on=begun == "interrupted")
        trio.run(going.run)
    print(f"Imported {', '.join(going.told)}", file=sys.stderr, flush=True)
    if going.users:
        print("Everybody signs in as before; mailboxes of a server are connected again.", file=sys.stderr, flush=True)
    return OK
