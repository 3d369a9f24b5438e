"""People who are written to together: counted in pairs when sent mail is stored, and suggested once one of them is
named.

Both directions of a pair are rows, so that one index scan finds the companions of a person. A pair belongs to the owner
of both people, and is deleted with either of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Final, cast

from svc.clock import Millis
from svc.people import queries
from svc.people.model import Person
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

MAX_IN_A_GROUP: Final = 10
"""A mail to more people is an announcement: it does not show who belongs together."""
MAX_NAMED: Final = 3
"""With more named people, the choice is already made."""
MIN_MAILS: Final = 2
USUALLY: Final = 1 / 3
"""The other person must have got at least this share of the mails to each named person."""


def met_together(tx: Tx, *, owner_id: str | None, addresses: Iterable[str], at: Millis) -> None:
    """One mail went to all of these plain addresses. Addresses that are not among the people are skipped."""
    people = queries.people_of(tx, owner_id=owner_id, addresses=addresses)
    if not 1 < len(people) <= MAX_IN_A_GROUP:
        return
    tx.run_many(
        """
        insert into people_together (person_id, other_id, mails, last_at) values (:person, :other, 1, :at)
        on conflict do update set mails = mails + 1, last_at = max(last_at, :at)
        """,
        [{"person": one.id, "other": other.id, "at": at} for one, other in permutations(people.values(), 2)],
    )


def usually_with(tx: ReadTx, principal: Principal, *, addresses: Sequence[str], limit: int) -> list[Person]:
    """The caller's people whom the caller usually writes to together with each of ``addresses``, the most frequent
    first. If several owners have people with these addresses, the caller's own or the first one counts.
    """
    found = [queries.own_people(tx, principal, address=one) for one in dict.fromkeys(addresses)]
    if not found or len(found) > MAX_NAMED or not all(found):
        return []
    named = [people[0] for people in found]
    rows = tx.all(
        """
        select other_id from people_together t join people p on p.id = t.person_id
        where person_id in (select value from json_each(:ids))
            and t.mails >= :fewest and t.mails >= :usually * p.sent
            and other_id not in (select value from json_each(:ids))
        group by other_id having count(*) = :named
        order by min(t.mails) desc, max(t.last_at) desc, other_id limit :limit
        """,
        ids=json_array([one.id for one in named]),
        fewest=MIN_MAILS,
        usually=USUALLY,
        named=len(named),
        limit=limit,
    )
    people = queries.by_ids(tx, [cast(int, other_id) for (other_id,) in rows])
    return [people[cast(int, other_id)] for (other_id,) in rows]
