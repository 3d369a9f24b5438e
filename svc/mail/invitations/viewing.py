"""An invitation for its reader: its content, its current state, the invited address, and conflicts with other dates."""

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
"""``updated``: a later version came. ``information``: it can't be answered, for example because it is an answer."""

MAX_CONFLICTS: Final = 10
MIN_NAMED: Final = 2


@dataclass(frozen=True, kw_only=True)
class View:
    """``invited``: the address by which the account's owner is invited; ``None``: no known address is. In a proposal of
    another time: the address by which the owner is the organizer. ``planned``: the version that acceptance would move;
    ``None`` where it can't be moved from here. ``proposer``: the proposer's address, as in the proposal."""

    version: Version
    state: State
    answer: Answer | None
    outgoing_id: str | None
    invited: str | None
    conflicts: tuple[Busy, ...]
    warnings: tuple[str, ...]
    proposer: str | None = None
    planned: Version | None = None


def view(tx: ReadTx, principal: Principal, *, message: MessageRow) -> View | None:
    """The view of a message's invitation; ``None`` where it has none, or the caller may not see its account."""
    account = account_queries.account_for(tx, principal, account_id=message.account_id, to="read")
    versions = queries.of_message(tx, message_id=message.id)
    if account is None or not versions:
        return None
    version = versions[0]
    one = version.found
    others = queries.versions(tx, account_id=account.id, uid=one.uid)
    if one.method == "COUNTER":
        return _proposal(tx, account, message, version, others)
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


def _proposal(tx: ReadTx, account: Account, message: MessageRow, version: Version, others: Sequence[Version]) -> View:
    """The view of a proposal of another time. The account's owner may be the organizer of the meeting."""
    one = version.found
    own = {*own_addresses.sendable(account), *account_queries.addresses_of(tx, owner_id=account.owner_id)}
    organizer = (
        one.organizer.address
        if one.organizer is not None and own_addresses.is_one(one.organizer.address.lower(), own)
        else None
    )
    answered = queries.proposal_answered(
        tx, message_id=version.message_id, uid=one.uid, recurrence_id=one.recurrence_id
    )
    state: State = "open" if organizer is not None and version.genuine else "information"
    if any(_calls_off(other, version) for other in others):
        state = "cancelled"
    elif answered is not None:
        state = "answered"
    elif any(_replaces(other, version) for other in others):
        state = "updated"
    return View(
        version=version,
        state=state,
        answer=None if answered is None else answered.answer,
        outgoing_id=None if answered is None else answered.outgoing_id,
        invited=organizer,
        conflicts=(),
        warnings=tuple(_warnings(version, message, others)),
        proposer=next(
            (it.address for it in one.attendees if it.address.lower() == message.sender.address.lower()), None
        ),
        planned=_planned(version, others),
    )


def _planned(version: Version, others: Sequence[Version]) -> Version | None:
    """The version to move: the organizer's latest invitation. Where that is not here, the proposal itself, if it names
    several people, because then it names all of them. ``None`` for a series, which is moved in a calendar."""
    one = version.found
    words = [
        other
        for other in others
        if other.genuine
        and other.found.method == "REQUEST"
        and other.found.recurrence_id == one.recurrence_id
        and _same_organizer(other, version)
    ]
    found = max(words, key=lambda other: other.place, default=version)
    is_series = found.found.recurrence is not None or len(found.found.times) > 1
    return None if is_series or (found is version and len(asked(version)) < MIN_NAMED) else found


def asked(version: Version) -> tuple[str, ...]:
    """The addresses of all invited people without the organizer."""
    one = version.found
    organizer = "" if one.organizer is None else one.organizer.address.lower()
    by_address = {person.address.lower(): person.address for person in one.attendees}
    return tuple(address for lower, address in by_address.items() if lower not in {organizer, ""})


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
    """Whether ``other`` cancels ``version``. A cancellation of one date cancels only that date; one of the series
    cancels all dates."""
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
    """Whether ``other`` is as late or later. Outlook cancels with the same sequence number; then the time decides."""
    return other.place >= version.place


def _same_organizer(other: Version, version: Version) -> bool:
    mine, theirs = version.found.organizer, other.found.organizer
    return mine is not None and theirs is not None and mine.address.lower() == theirs.address.lower()


def _invited(tx: ReadTx, account: Account, message: MessageRow, attendees: Iterable[Attendee]) -> str | None:
    """The invited address, spelled as in the invitation. The first match of: an address of the account, another address
    of the owner, one of these with a tag, else the only address to which the mail was sent."""
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
            whose = one.organizer_mail or one.organizer.address
            yield f"The organizer is {whose}, but {message.sender.address} sent this"
    if not one.zone_known:
        yield f"The time zone “{one.timezone}” is not known: the time is shown as it was written"
    if one.recurrence_id and not any(other.found.recurrence_id == "" for other in others):
        yield "This is one date of a series, and the series itself is not in this mailbox"
