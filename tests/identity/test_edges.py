"""Sign-in at its limits: the last moment of each credential, and each single condition that can be missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from svc.clock import DAY_MS, Millis
from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.identity import actions, queries, tokens
from svc.identity.actions import Claiming, SignedIn
from svc.identity.migrations import MIGRATIONS
from svc.identity.model import (
    CLOCK_SLACK_MS,
    INVITE_MAX_DAYS,
    MAX_OPEN_PAIRING_CODES,
    PAIRING_LIFETIME_MS,
    SESSION_LIFETIME_MS,
    Proof,
    Role,
)
from svc.nursery import ThreadPool
from svc.principal import UNCLAIMED, Principal
from svc.store import Store

MIA, NOA = "mia@example.org", "noa@example.org"


@dataclass
class SetClock:
    """The moment that a test sets."""

    at: Millis = 1_793_088_000_000  # 2026-10-27T08:00:00Z

    def now(self) -> Millis:
        return self.at


FREELY = Claiming(freely=True, hooks=())
FROM_AFAR = Claiming(freely=False, hooks=())


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store(tmp_path: Path, threads: ThreadPool, clock: SetClock) -> Iterator[Store]:
    opened = Store.open(tmp_path / "svc.sqlite3", clock=clock, threads=threads, migrations=[MIGRATIONS])
    yield opened
    opened.close_now()


def signed_in(store: Store, email: str = MIA, *, invite: str | None = None, claiming: Claiming = FREELY) -> SignedIn:
    return store.write_now(
        actions.sign_in,
        proof=Proof(email=email),
        invite=invite,
        claiming=claiming,
        old_cookie=None,
        device_name="Browser",
        seen_from="",
    )


def as_principal(one: SignedIn) -> Principal:
    return Principal(user_id=one.user.id, device_id=one.device_id, is_admin=one.user.role == "admin", via="session")


def invited(store: Store, *, role: Role = "member", days: int = 1) -> tuple[str, str]:
    """The id of an invite, and its code."""
    invite, code = store.write_now(actions.create_invite, UNCLAIMED, email=None, expires_in_days=days, role=role)
    return invite.id, code


def from_afar(store: Store) -> bool:
    return store.read_now(actions.can_be_claimed_from_afar)


# Claiming from afar


def test_a_claim_token_opens_the_claim_once_and_is_not_renewed_by_the_next_boot(store: Store) -> None:
    assert not from_afar(store)
    assert store.read_now(actions.anybody_could_claim)
    store.write_now(actions.keep_claim_token, token="a long secret")
    assert from_afar(store)
    assert not store.read_now(actions.anybody_could_claim)
    with pytest.raises(Forbidden):
        signed_in(store, invite="another secret", claiming=FROM_AFAR)
    assert signed_in(store, invite="a long secret", claiming=FROM_AFAR).user.role == "admin"
    assert not from_afar(store)
    store.write_now(actions.keep_claim_token, token="a long secret")
    assert not from_afar(store)
    assert not store.read_now(actions.anybody_could_claim)


def test_the_claim_and_the_news_of_it_are_one_commit(store: Store) -> None:
    """Nothing can go wrong between the two: the news ends what was open for everybody."""
    signed_in(store)
    assert store.read_now(lambda tx: tx.all("select kind from outbox where topic = 'identity'")) == [(actions.CLAIMED,)]


def test_a_spent_token_claims_nothing_even_where_nobody_is_left(store: Store) -> None:
    store.write_now(actions.keep_claim_token, token="a long secret")
    signed_in(store, invite="a long secret", claiming=FROM_AFAR)
    for table in ("sessions", "devices", "users"):
        store.write_now(lambda tx, table: tx.run(f"delete from {table}"), table)
    with pytest.raises(Forbidden):
        signed_in(store, invite="a long secret", claiming=FROM_AFAR)


def test_a_boot_with_another_token_or_none_ends_the_earlier_one(store: Store) -> None:
    store.write_now(actions.keep_claim_token, token="the first")
    store.write_now(actions.keep_claim_token, token="the second")
    with pytest.raises(Forbidden):
        signed_in(store, invite="the first", claiming=FROM_AFAR)
    store.write_now(actions.keep_claim_token, token=None)
    assert not from_afar(store)
    with pytest.raises(Forbidden):
        signed_in(store, invite="the second", claiming=FROM_AFAR)


def test_only_an_admins_invite_that_is_open_claims_from_afar(store: Store, clock: SetClock) -> None:
    _, members = invited(store)
    assert not from_afar(store)
    revoked, code = invited(store, role="admin")
    assert from_afar(store)
    store.write_now(actions.revoke_invite, UNCLAIMED, invite_id=revoked)
    assert not from_afar(store)
    invited(store, role="admin")
    clock.at += DAY_MS - 1
    assert from_afar(store)
    clock.at += 1
    assert not from_afar(store)
    for refused in (members, code, "", None):
        with pytest.raises(Forbidden):
            signed_in(store, invite=refused, claiming=FROM_AFAR)
    _, good = invited(store, role="admin")
    assert signed_in(store, invite=good, claiming=FROM_AFAR).user.role == "admin"
    assert not from_afar(store)


# Invites


def test_an_invite_lives_between_a_day_and_a_year(store: Store) -> None:
    for days in (0, INVITE_MAX_DAYS + 1):
        with pytest.raises(Invalid):
            invited(store, days=days)
    for days in (1, INVITE_MAX_DAYS):
        invite_id, _ = invited(store, days=days)
        ((created_at, expires_at),) = store.read_now(
            lambda tx, one: tx.all("select created_at, expires_at from invites where id = :id", id=one), invite_id
        )
        assert expires_at == created_at + days * DAY_MS


def test_an_invite_is_good_to_its_last_millisecond(store: Store, clock: SetClock) -> None:
    signed_in(store)
    _, first = invited(store)
    _, second = invited(store)
    clock.at += DAY_MS - 1
    assert signed_in(store, NOA, invite=first).user.role == "member"
    clock.at += 1
    with pytest.raises(Forbidden):
        signed_in(store, "ole@example.org", invite=second)


def test_an_invite_that_was_used_can_not_be_revoked_and_a_revoked_one_keeps_its_time(
    store: Store, clock: SetClock
) -> None:
    mia = as_principal(signed_in(store))
    used, code = invited(store)
    signed_in(store, NOA, invite=code)
    open_one, _ = invited(store)
    with pytest.raises(NotFound):
        store.write_now(actions.revoke_invite, mia, invite_id=used)
    revoked_at = clock.at
    store.write_now(actions.revoke_invite, mia, invite_id=open_one)
    clock.at += 1
    store.write_now(actions.revoke_invite, mia, invite_id=open_one)
    rows = store.read_now(lambda tx: {row[0]: row[1] for row in tx.all("select id, revoked_at from invites")})
    assert rows == {used: None, open_one: revoked_at}


# Roles and sessions


def test_a_changed_role_ends_no_session(store: Store) -> None:
    mia = signed_in(store)
    _, code = invited(store)
    noa = signed_in(store, NOA, invite=code)
    store.write_now(actions.set_role, user_id=noa.user.id, role="member")  # as it was
    store.write_now(actions.set_role, user_id=noa.user.id, role="admin")
    store.write_now(actions.set_role, user_id=mia.user.id, role="member")
    assert alive(store, mia, noa) == [True, True]
    with pytest.raises(Conflict):
        store.write_now(actions.set_role, user_id=noa.user.id, role="member")
    with pytest.raises(NotFound):
        store.write_now(actions.set_role, user_id="usr_none", role="member")


def test_all_sessions_of_all_people_end(store: Store) -> None:
    mia, again = signed_in(store), signed_in(store)
    _, code = invited(store)
    noa = signed_in(store, NOA, invite=code)
    assert store.write_now(actions.end_all_sessions) == 3
    assert alive(store, mia, again, noa) == [False, False, False]


def test_a_session_opens_to_its_last_millisecond_and_is_swept_by_the_next_sign_in(
    store: Store, clock: SetClock
) -> None:
    first = signed_in(store)
    clock.at += SESSION_LIFETIME_MS - 1
    assert alive(store, first) == [True]
    second = signed_in(store)
    clock.at += 1
    assert alive(store, first, second) == [False, True]
    signed_in(store)
    kept = store.read_now(lambda tx: {str(row[0]) for row in tx.all("select device_id from sessions")})
    assert first.device_id not in kept
    assert len(kept) == 2


def alive(store: Store, *sessions: SignedIn) -> list[bool]:
    digests = [tokens.digest(one.cookie) for one in sessions]
    return [store.read_now(queries.session_by_cookie, digest) is not None for digest in digests]


def test_what_opens_a_session_is_in_no_trace(store: Store) -> None:
    opened = signed_in(store)
    assert opened.cookie not in repr(opened)
    assert opened.user.email in repr(opened)


# Pairing


def test_a_pairing_code_is_good_to_its_last_millisecond_and_then_makes_room(store: Store, clock: SetClock) -> None:
    mia = as_principal(signed_in(store))
    codes = [
        store.write_now(actions.create_pairing_code, mia, capabilities={})[0] for _ in range(MAX_OPEN_PAIRING_CODES)
    ]
    clock.at += PAIRING_LIFETIME_MS - 1
    assert store.write_now(actions.claim_pairing_code, code=codes[0], name="Phone", kind="mobile") is not None
    assert store.write_now(actions.claim_pairing_code, code=codes[0], name="Phone", kind="mobile") is None
    clock.at += 1
    assert store.write_now(actions.claim_pairing_code, code=codes[1], name="Phone", kind="mobile") is None
    for _ in range(MAX_OPEN_PAIRING_CODES):
        store.write_now(actions.create_pairing_code, mia, capabilities={})
    (count,) = store.read_now(lambda tx: tx.one("select count(*) from pairing_codes")) or (0,)
    assert count == MAX_OPEN_PAIRING_CODES


def test_a_pairing_code_does_not_live_longer_where_the_clock_goes_back(store: Store, clock: SetClock) -> None:
    mia = as_principal(signed_in(store))
    codes = [
        store.write_now(actions.create_pairing_code, mia, capabilities={})[0] for _ in range(MAX_OPEN_PAIRING_CODES)
    ]
    clock.at -= CLOCK_SLACK_MS
    assert store.write_now(actions.claim_pairing_code, code=codes[0], name="Phone", kind="mobile") is not None
    clock.at -= 1
    assert store.write_now(actions.claim_pairing_code, code=codes[1], name="Phone", kind="mobile") is None
    assert store.write_now(actions.create_pairing_code, mia, capabilities={}), "they make room"


def test_a_session_is_ended_by_its_owner_only(store: Store) -> None:
    mia = signed_in(store)
    _, code = invited(store)
    noa = signed_in(store, NOA, invite=code)
    ((session_id,),) = store.read_now(
        lambda tx, device: tx.all("select id from sessions where device_id = :device", device=device), noa.device_id
    )
    with pytest.raises(NotFound):
        store.write_now(actions.revoke_session, as_principal(mia), session_id=str(session_id))
    assert alive(store, noa) == [True]
    store.write_now(actions.revoke_session, as_principal(noa), session_id=str(session_id))
    assert alive(store, noa) == [False]
