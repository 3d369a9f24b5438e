"""An invitation as its reader needs it: what it says, what holds of it now, whom it is for, what it conflicts with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from svc.formats.invitations import Answer, Attendee
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.invitations import queries
from svc.mail.invitations.queries import Busy, Version
from svc.mail.model import Account, MessageRow
from svc.principal import Principal
from svc.store import ReadTx

State = Literal["open", "answered", "updated", "cancelled", "information"]
"""``updated``: a later version came. ``information``: there is nothing to answer, such as to somebody's answer."""

MAX_CONFLICTS: Final = 10


@dataclass(frozen=True, kw_only=True)
class View:
    """``invited``: the address under which the account's owner is asked; ``None``: under none that is known."""

    version: Version
    state: State
    answer: Answer | None
    outgoing_id: str | None
    invited: str | None
    conflicts: tuple[Busy, ...]
    warnings: tuple[str, ...]


def view(tx: ReadTx, principal: Principal, *, message: MessageRow) -> View | None:
    """``None``: the message holds no invitation, or its account is not the caller's to see."""
    account = account_queries.account_for(tx, principal, account_id=message.account_id, to="read")
    versions = queries.of_message(tx, message_id=message.id)
    if account is None or not versions:
        return None
    version = versions[0]
    one = version.found
    others = queries.versions(tx, account_id=account.id, uid=one.uid)
    answered = queries.answered(tx, account_id=account.id, uid=one.uid, recurrence_id=one.recurrence_id)
    invited = _invited(tx, account, message, one.attendees)
    holds = None if answered is None or answered.sequence < one.sequence else answered
    return View(
        version=version,
        state=_state(version, others, is_answered=holds is not None, invited=invited),
        answer=None if holds is None else holds.answer,
        outgoing_id=None if holds is None else holds.outgoing_id,
        invited=invited,
        conflicts=tuple(_conflicts(tx, principal, version)) if one.method == "REQUEST" else (),
        warnings=tuple(_warnings(version, message, others)),
    )


def _state(version: Version, others: Sequence[Version], *, is_answered: bool, invited: str | None) -> State:
    one = version.found
    if one.method == "CANCEL" or one.status == "cancelled" or any(_calls_off(other, version) for other in others):
        return "cancelled"
    if one.method != "REQUEST":
        return "information"
    if any(_replaces(other, version) for other in others):
        return "updated"
    if is_answered:
        return "answered"
    return "open" if invited is not None and one.organizer is not None else "information"


def _calls_off(other: Version, version: Version) -> bool:
    """A cancellation of one date calls off that date alone, one of the series all of them."""
    one, it = other.found, version.found
    concerns = one.recurrence_id in {"", it.recurrence_id}
    return (
        other.genuine
        and _same_organizer(other, version)
        and one.method == "CANCEL"
        and concerns
        and _is_later(other, version)
    )


def _replaces(other: Version, version: Version) -> bool:
    same = other.found.recurrence_id == version.found.recurrence_id and other.found.method == "REQUEST"
    is_other = other.message_id != version.message_id and other.place > version.place
    return other.genuine and same and is_other and _same_organizer(other, version)


def _is_later(other: Version, version: Version) -> bool:
    """Outlook calls off under the same number; the time decides then."""
    return other.place >= version.place


def _same_organizer(other: Version, version: Version) -> bool:
    mine, theirs = version.found.organizer, other.found.organizer
    return mine is not None and theirs is not None and mine.address.lower() == theirs.address.lower()


def _invited(tx: ReadTx, account: Account, message: MessageRow, attendees: Iterable[Attendee]) -> str | None:
    """As it stands in the invitation: one of the account's addresses, another of the owner's, one of them with a tag,
    else the one that the mail went to."""
    by_address = {one.address.lower(): one.address for one in reversed(list(attendees))}
    own = account_queries.addresses_of(tx, owner_id=account.owner_id)
    tagged = (one for one in by_address if own_addresses.is_one(one, own))
    for address in (*own_addresses.sendable(account), *sorted(own), *tagged):
        if address in by_address:
            return by_address[address]
    reached = {person.address.lower() for person in (*message.headers.to, *message.headers.cc)}
    found = [address for lower, address in by_address.items() if lower in reached]
    return found[0] if len(found) == len(reached) == 1 else None


def _conflicts(tx: ReadTx, principal: Principal, version: Version) -> Iterable[Busy]:
    times = version.found.times
    if not times:
        return
    accounts = [one.id for one in account_queries.accounts(tx, principal)]
    first, last = min(starts for starts, _ in times), max(ends for _, ends in times)
    taken = queries.busy(tx, account_ids=accounts, but_uid=version.found.uid, starts=first, ends=last)
    found = 0
    for one in taken:
        if any(one.starts < ends and starts < one.ends for starts, ends in times):
            yield one
            found += 1
            if found == MAX_CONFLICTS:
                return


def _warnings(version: Version, message: MessageRow, others: Sequence[Version]) -> Iterable[str]:
    one = version.found
    if not version.genuine:
        if one.method in {"REPLY", "COUNTER", "REFRESH"}:
            yield f"This answer was sent by {message.sender.address}, who is not the one it names"
        elif one.organizer is None:
            yield "This invitation names no organizer"
        else:
            yield f"The organizer is {one.organizer.address}, but {message.sender.address} sent this"
    if not one.zone_known:
        yield f"The time zone “{one.timezone}” is not known: the time is shown as it was written"
    if one.recurrence_id and not any(other.found.recurrence_id == "" for other in others):
        yield "This is one date of a series, and the series itself is not in this mailbox"
