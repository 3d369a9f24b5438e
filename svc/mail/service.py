"""The functions of running mail services (sync, reading, search) that other features call."""

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
    """Call it after a commit that changed threads or accepted a mail: it wakes the loops that go on with it."""
    tell_of_changes(workspace)
    workspace.service(Scheduler).nudge(JOB)


async def make_label(workspace: Workspace, account_id: str, name: str) -> str:
    """Make a label at the provider. Returns its id. Raises :class:`svc.errors.Refusal`."""
    try:
        return (await workspace.service(MailEngine).make_label(account_id, name, color=None)).id
    except ProviderFault as fault:
        raise Unavailable(f"The label {name} can't be made: {fault.detail}") from fault


async def start_account(workspace: Workspace, account_id: str) -> None:
    """Start the sync loop of an account that was connected, or start it anew."""
    await workspace.service(MailEngine).start_account(account_id)


async def sync_now(workspace: Workspace, account_id: str) -> None:
    """Run one full step of an account's sync. Returns when it is done."""
    await workspace.service(MailEngine).sync_now(account_id)


async def read_thread(workspace: Workspace, principal: Principal, *, thread_id: str) -> ThreadDetailOut:
    """An open thread with its messages, as ``mail.thread`` answers. Raises 404."""
    return await workspace.service(Reader).thread(principal, thread_id=thread_id)


async def search(workspace: Workspace, principal: Principal, *, query: str, limit: int) -> SearchOut:
    """The results of ``mail.search``."""
    return await workspace.service(Search).ask(principal, SearchInput(query=query, limit=limit))


async def search_mixed(
    workspace: Workspace, principal: Principal, wanted: SearchInput, *, near: Sequence[str]
) -> Mixed:
    """The best results by words, mixed with ``near``: messages near in meaning, the nearest first."""
    return await workspace.service(Search).mixed(principal, wanted, near=near)


def hold_ms(workspace: Workspace) -> int:
    """How many milliseconds a mail is held before it is sent, so that the person can take it back."""
    return workspace.config[UNDO_SEND_SECONDS] * 1_000
