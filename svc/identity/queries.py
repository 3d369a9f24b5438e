"""Queries of users, their identities, sessions, devices and invites."""

from __future__ import annotations

from typing import Final, cast

import msgspec

from svc.identity.model import MAX_LISTED_DEVICES, Device, Invite, Role, Session, User
from svc.store import ReadTx, Row

_USER: Final = "u.id, u.email, u.name, u.role, u.created_at"
_SESSION: Final = "s.id, s.user_id, s.device_id, s.created_at, s.last_seen_at, s.expires_at"
_INVITE: Final = "i.id, i.email, i.role, i.created_at, i.expires_at, i.used_at, i.revoked_at"
_DEVICE: Final = "d.id, d.user_id, d.kind, d.name, d.capabilities, d.revoked, d.created_at, d.last_seen_at, d.seen_from"
_GOOD_DEVICE: Final = f"""
    select {_DEVICE}, {_USER} from devices d left join users u on u.id = d.user_id where d.revoked = 0
"""

_decode_flags = msgspec.json.Decoder(dict[str, bool]).decode


def is_claimed(tx: ReadTx) -> bool:
    return tx.value("select 1 from users limit 1") is not None


def user(tx: ReadTx, user_id: str) -> User | None:
    row = tx.one(f"select {_USER} from users u where u.id = :id", id=user_id)
    return None if row is None else _user(row)


def user_by_email(tx: ReadTx, email: str) -> User | None:
    row = tx.one(f"select {_USER} from users u where u.email = :email", email=email)
    return None if row is None else _user(row)


def user_by_identity(tx: ReadTx, *, issuer: str, subject: str) -> User | None:
    row = tx.one(
        f"""
        select {_USER} from identities i join users u on u.id = i.user_id
        where i.issuer = :issuer and i.subject = :subject
        """,
        issuer=issuer,
        subject=subject,
    )
    return None if row is None else _user(row)


def users(tx: ReadTx) -> list[User]:
    return [_user(row) for row in tx.all(f"select {_USER} from users u order by u.created_at, u.id")]


def admins(tx: ReadTx) -> int:
    return cast(int, tx.value("select count(*) from users where role = 'admin'"))


def session_by_cookie(tx: ReadTx, cookie_digest: str) -> tuple[Session, User] | None:
    """The live session that a cookie opens, with its user. Its device's revocation ends it too."""
    row = tx.one(
        f"""
        select {_SESSION}, {_USER} from sessions s
        join users u on u.id = s.user_id join devices d on d.id = s.device_id
        where s.cookie_digest = :digest and s.expires_at > :now and d.revoked = 0
        """,
        digest=cookie_digest,
        now=tx.now,
    )
    return None if row is None else (_session(row), _user(row[6:]))


def cookie_digests(tx: ReadTx, limit: int) -> list[str]:
    """The digests of all sessions, also of ended ones: if the clock is set back, they are valid again."""
    return [cast(str, row[0]) for row in tx.all("select cookie_digest from sessions limit :limit", limit=limit)]


def token_digests(tx: ReadTx, limit: int) -> list[str]:
    """The digests of all devices that have a token and are not revoked. A revocation is final."""
    rows = tx.all(
        "select token_digest from devices where token_digest is not null and revoked = 0 limit :limit", limit=limit
    )
    return [cast(str, row[0]) for row in rows]


def device_by_token(tx: ReadTx, token_digest: str) -> tuple[Device, User | None] | None:
    """The unrevoked device of a token, with its user."""
    row = tx.one(f"{_GOOD_DEVICE} and d.token_digest = :digest", digest=token_digest)
    return None if row is None else (_device(row), None if row[9] is None else _user(row[9:]))


def good_device(tx: ReadTx, device_id: str) -> tuple[Device, User | None] | None:
    """The device of that id unless it is revoked, with its user."""
    row = tx.one(f"{_GOOD_DEVICE} and d.id = :id", id=device_id)
    return None if row is None else (_device(row), None if row[9] is None else _user(row[9:]))


def sessions_of(tx: ReadTx, user_id: str) -> list[Session]:
    rows = tx.all(
        f"select {_SESSION} from sessions s where s.user_id = :id and s.expires_at > :now order by s.last_seen_at desc",
        id=user_id,
        now=tx.now,
    )
    return [_session(row) for row in rows]


def devices(tx: ReadTx, *, user_id: str | None, everyone: bool) -> list[Device]:
    """The newest devices, first those of ``user_id`` that can act: a long list leaves out only others' or
    revoked ones."""
    rows = tx.all(
        f"""
        select {_DEVICE} from devices d where :everyone or d.user_id is :user_id
        order by d.revoked, d.user_id is not :user_id, d.last_seen_at desc, d.created_at desc, d.id limit :most
        """,
        most=MAX_LISTED_DEVICES,
        everyone=int(everyone),
        user_id=user_id,
    )
    return [_device(row) for row in rows]


def device(tx: ReadTx, device_id: str) -> Device | None:
    row = tx.one(f"select {_DEVICE} from devices d where d.id = :id", id=device_id)
    return None if row is None else _device(row)


def invites(tx: ReadTx) -> list[Invite]:
    rows = tx.all(
        f"""
        select {_INVITE}, {_USER} from invites i left join users u on u.id = i.used_by
        order by i.created_at desc, i.id limit 1000
        """
    )
    return [_invite(row, used_by=None if row[7] is None else _user(row[7:])) for row in rows]


def open_invite(tx: ReadTx, code_digest: str, *, email: str) -> Invite | None:
    """An invite that ``email`` may still use. One for another address is treated like a missing one, in time too."""
    row = tx.one(
        f"""
        select {_INVITE} from invites i
        where i.code_digest = :digest and i.used_at is null and i.revoked_at is null and i.expires_at > :now
            and (i.email is null or i.email = :email)
        """,
        digest=code_digest,
        email=email,
        now=tx.now,
    )
    return None if row is None else _invite(row)


def _user(row: Row) -> User:
    return User(
        id=cast(str, row[0]),
        email=cast(str, row[1]),
        name=cast(str, row[2]),
        role=cast(Role, row[3]),
        created_at=cast(int, row[4]),
    )


def _session(row: Row) -> Session:
    return Session(
        id=cast(str, row[0]),
        user_id=cast(str, row[1]),
        device_id=cast(str, row[2]),
        created_at=cast(int, row[3]),
        last_seen_at=cast(int, row[4]),
        expires_at=cast(int, row[5]),
    )


def _device(row: Row) -> Device:
    return Device(
        id=cast(str, row[0]),
        user_id=cast("str | None", row[1]),
        kind=cast(str, row[2]),
        name=cast(str, row[3]),
        capabilities=_decode_flags(cast(str, row[4])),
        revoked=bool(row[5]),
        created_at=cast(int, row[6]),
        last_seen_at=cast("int | None", row[7]),
        seen_from=cast("str | None", row[8]),
    )


def _invite(row: Row, *, used_by: User | None = None) -> Invite:
    return Invite(
        id=cast(str, row[0]),
        email=cast("str | None", row[1]),
        role=cast(Role, row[2]),
        created_at=cast(int, row[3]),
        expires_at=cast(int, row[4]),
        used_at=cast("int | None", row[5]),
        revoked_at=cast("int | None", row[6]),
        used_by=used_by,
    )
