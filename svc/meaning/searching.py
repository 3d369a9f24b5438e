"""One search by words and by meaning, mixed, for the app and for agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc import mail
from svc.mail import FoundThreadOut, SearchInput
from svc.meaning import queue
from svc.meaning.finding import Finder, fused
from svc.pages import FoundPage, find_pages, found_pages
from svc.principal import Principal
from svc.store import ReadTx
from svc.workspace import Workspace

MAX_PAGES: Final = 20


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """The best first. ``near``: ids of items found by meaning. ``problem``: why only words were used."""

    threads: tuple[FoundThreadOut, ...]
    pages: tuple[FoundPage, ...]
    near: tuple[str, ...]
    notices: tuple[str, ...]
    problem: str


async def search(workspace: Workspace, principal: Principal, asked: SearchInput) -> Mixture:
    """Mail, and pages unless one account is given."""
    words = await workspace.store.read(mail.free_words, asked)
    near = await workspace.service(Finder).near(principal, words, account_id=asked.account_id)
    found = await mail.search_mixed(workspace, principal, asked, near=near.message_ids)
    pages: tuple[FoundPage, ...] = ()
    if asked.account_id is None and words:
        pages = await workspace.store.read(_pages, principal, text=words, near=near.page_ids, limit=MAX_PAGES)
    return Mixture(
        threads=found.threads,
        pages=pages,
        near=(*sorted(found.near), *(page.id for page in pages if page.id in near.page_ids)),
        notices=found.notices,
        problem=near.problem,
    )


async def search_pages(workspace: Workspace, principal: Principal, *, text: str, limit: int) -> tuple[FoundPage, ...]:
    """Search only pages."""
    near = await workspace.service(Finder).near(principal, text, account_id=None)
    return await workspace.store.read(_pages, principal, text=text, near=near.page_ids, limit=limit)


async def is_on(workspace: Workspace, principal: Principal) -> bool:
    """Whether the person has it switched on. Otherwise their agents ask no model for vectors."""
    return await workspace.store.read(queue.is_on, principal.user_id)


def _pages(tx: ReadTx, principal: Principal, *, text: str, near: tuple[str, ...], limit: int) -> tuple[FoundPage, ...]:
    by_words = [page.id for page in find_pages(tx, principal, text=text, limit=limit)]
    ranked = fused(by_words, near)
    found = found_pages(tx, principal, ranked, text=text)
    return tuple(found[page_id] for page_id in ranked if page_id in found)[:limit]
