"""Imports what people have set and taught (:mod:`svc.export.choices`). Each step may be repeated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from svc import meetings, notifications, triage
from svc.errors import Invalid
from svc.export import choices
from svc.formats.text import clean_line
from svc.mail import bringing_back
from svc.pages import readable_page
from svc.principal import system
from svc.store import Store, Tx

ME = system("import")
SHOWN_CHARS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The rows of an export. ``user``: a person's id by address; ``account``: the local account for a mailbox and its
    owner."""

    store: Store
    user: Callable[[str | None], str | None]
    account: Callable[[str, str | None], Awaitable[str]]

    async def snippets(self, rows: Sequence[choices.Snippet]) -> None:
        for one in rows:
            await self.store.write(
                bringing_back.snippet,
                owner_id=self.user(one.owner),
                wanted=bringing_back.SnippetInput(
                    name=one.name, html=one.html, subject=one.subject, to=one.to, cc=one.cc, bcc=one.bcc
                ),
            )

    async def trusted_senders(self, rows: Sequence[choices.TrustedSender]) -> None:
        for one in rows:
            await self.store.write(bringing_back.trust, owner_id=self.user(one.owner), address=one.address)

    async def mailboxes(self, rows: Sequence[choices.Mailbox]) -> None:
        for one in rows:
            account_id = await self.account(one.account, one.owner)
            if one.signature:
                await self.store.write(bringing_back.signature, account_id=account_id, html=one.signature)
            for share in one.shared_with:
                if (user_id := self.user(share.person)) is not None:
                    await self.store.write(
                        bringing_back.share, account_id=account_id, user_id=user_id, access=share.access
                    )

    async def notifications(self, rows: Sequence[choices.Notified]) -> list[str]:
        """Returns what can't be set here: quiet hours in a time zone that this machine does not know."""
        left_out: list[str] = []
        for one in rows:
            quiet = None
            if one.time_zone is not None:
                hours = notifications.QuietInput(time_zone=one.time_zone, begin=one.begin, end=one.end)
                try:
                    quiet = notifications.quiet_of(hours)
                except Invalid:
                    zone = clean_line(one.time_zone)[:SHOWN_CHARS]
                    left_out.append(f"no quiet hours for {one.person}: {zone} is no time zone that is known here")
            if (user_id := self.user(one.person)) is not None:
                wanted = notifications.Preferences(words=one.words, quiet=quiet)
                await self.store.write(notifications.set_preferences, user_id=user_id, wanted=wanted)
        return left_out

    async def sorting(self, rows: Sequence[choices.Sorting]) -> None:
        for one in rows:
            await self.store.write(
                triage.bring_back,
                self.user(one.owner) or "",
                asks_model=one.asks_model,
                senders=[(sender.address, sender.kind, sender.at) for sender in one.senders],
            )

    async def meeting(self, one: choices.Meeting) -> None:
        await self.store.write(partial(_meeting, one, owner_id=self.user(one.owner)))


def _meeting(one: choices.Meeting, tx: Tx, *, owner_id: str | None) -> None:
    page = None if one.page is None else readable_page(tx, ME, one.page)
    meetings.bring_back(
        tx,
        meetings.Meeting(
            id=one.id,
            owner_id=owner_id,
            title=one.title,
            format=one.format,
            rate=one.rate,
            state="done",
            started_at=one.started_at,
            ended_at=one.ended_at,
            sound_ms=one.sound_ms,
            file_id=one.file,
            page_id=None if page is None else page.id,
            problem=one.problem,
        ),
        [
            meetings.Line(start_ms=line.start_ms, end_ms=line.end_ms, text=line.text, speaker=line.speaker)
            for line in one.lines
        ],
    )
