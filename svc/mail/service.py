"""What other features ask of the running part of mail."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import Unavailable
from svc.mail.labelling.carrying_on import carry_on as tell_of_changes
from svc.mail.providers.seam import ProviderFault
from svc.mail.reading.reader import Reader
from svc.mail.reading.wire import ThreadDetailOut
from svc.mail.search.procedures import Mixed, Search
from svc.mail.search.wire import SearchInput, SearchOut
from svc.mail.sending.settings import UNDO_SEND_SECONDS
from svc.mail.sending.tasks import JOB
from svc.mail.sync.engine import MailEngine
from svc.principal import Principal
from svc.scheduler import Scheduler
from svc.workspace import Workspace


def carry_on(workspace: Workspace) -> None:
    """A change of threads, or a mail to send, is committed: wake whoever has to take it further."""
    tell_of_changes(workspace)
    workspace.service(Scheduler).nudge(JOB)


async def make_label(workspace: Workspace, account_id: str, name: str) -> str:
    """A new label at the provider; its id. Raises :class:`svc.errors.Refusal`."""
    try:
        return (await workspace.service(MailEngine).make_label(account_id, name, color=None)).id
    except ProviderFault as fault:
        raise Unavailable(f"The label {name} can't be made: {fault.detail}") from fault


async def start_account(workspace: Workspace, account_id: str) -> None:
    """An account was connected: start its loop, or start it anew."""
    await workspace.service(MailEngine).start_account(account_id)


async def sync_now(workspace: Workspace, account_id: str) -> None:
    """One full step of an account's sync. Returns when it is done."""
    await workspace.service(MailEngine).sync_now(account_id)


async def read_thread(workspace: Workspace, principal: Principal, *, thread_id: str) -> ThreadDetailOut:
    """An open thread with its messages, as ``mail.thread`` answers. Raises 404."""
    return await workspace.service(Reader).thread(principal, thread_id=thread_id)


async def search(workspace: Workspace, principal: Principal, *, query: str, limit: int) -> SearchOut:
    """What ``mail.search`` finds."""
    return await workspace.service(Search).ask(principal, SearchInput(query=query, limit=limit))


async def search_mixed(
    workspace: Workspace, principal: Principal, wanted: SearchInput, *, near: Sequence[str]
) -> Mixed:
    """The best by words and by what is ``near`` in meaning: messages, the nearest first."""
    return await workspace.service(Search).mixed(principal, wanted, near=near)


def hold_ms(workspace: Workspace) -> int:
    """How long a mail is held for second thoughts."""
    return workspace.config[UNDO_SEND_SECONDS] * 1_000
