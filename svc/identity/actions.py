"""What a principal may do about identity: sign in and claim, invite, pair, revoke. Plain functions over a transaction.

The first successful sign-in claims the instance. The new user, the ownership of the existing data and the opened shared
surfaces are one transaction, so of a hundred first sign-ins exactly one finds no users. After that a sign-in needs an
account or an invite. No answer tells a stranger which of the two was wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import msgspec

from svc.clock import DAY_MS, SECOND_MS
from svc.errors import Conflict, Forbidden, Invalid, NotFound, Refusal
from svc.identity import queries, tokens
from svc.identity.model import (
    ADMINS_CAPABILITIES,
    CAPABILITIES,
    CLOCK_SLACK_MS,
    INVITE_MAX_DAYS,
    MAX_EMAIL_CHARS,
    MAX_KIND_CHARS,
    MAX_NAME_CHARS,
    MAX_OPEN_PAIRING_CODES,
    PAIRING_LIFETIME_MS,
    SESSION_LIFETIME_MS,
    WEB_SESSION,
    Device,
    Invite,
    Proof,
    Role,
    User,
    normal_email,
)
from svc.ids import new_id
from svc.principal import Principal
from svc.store import ReadTx, Tx

IDENTITY_TOPIC: Final = "identity"
"""Not for subscribers: the service's own sockets listen here for the end of their session."""

CLAIMED: Final = "instance.claimed"
"""The news that the instance has its first user, and nobody is everybody any more: it closes the sockets that were
opened before."""

ClaimHook = Callable[[Tx, str], None]
"""What a feature does in the claim transaction: it gets the first admin's user id."""

NOT_ADMITTED: Final = Forbidden(
    "This server takes members by invitation. Ask its owner for an invite link, and open it before you sign in."
)
CODE_REFUSED: Final = Forbidden("That code is wrong, was used already or is older than five minutes.")


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    """A new session. ``cookie`` opens it and is given only to its browser."""

    user: User
    device_id: str
    cookie: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Claiming:
    """How this instance may be claimed: freely (it listens on loopback only) or by credential. ``hooks`` run with the
    claim."""

    freely: bool
    hooks: Sequence[ClaimHook]


def sign_in(
    tx: Tx,
    *,
    proof: Proof,
    invite: str | None,
    claiming: Claiming,
    old_cookie: str | None,
    device_name: str,
    seen_from: str,
) -> SignedIn:
    """Sign ``proof`` in: a known user, a claim, or an invited new user. Raises :class:`Forbidden` for anybody else.

    An earlier session of the same browser ends: a cookie is never kept across a sign-in.
    """
    email = valid_email(proof.email)
    user = _known(tx, proof, email)
    if user is None and not queries.is_claimed(tx):
        user = _claim(tx, proof, email, invite=invite, claiming=claiming)
    elif user is None:
        user = _redeem(tx, proof, email, invite=invite)
    _link(tx, proof, user)
    if old_cookie is not None:
        tx.run("delete from sessions where cookie_digest = :digest", digest=tokens.digest(old_cookie))
    return _open_session(tx, user, device_name=device_name, seen_from=seen_from)


def sign_out(tx: Tx, principal: Principal, *, cookie: str) -> None:
    """End the session that ``cookie`` opens, and its device with it."""
    tx.run("delete from sessions where cookie_digest = :digest", digest=tokens.digest(cookie))
    _revoke(tx, device_id=principal.device_id)


def touch_session(tx: Tx, *, session_id: str, device_id: str, seen_from: str) -> None:
    """Note that the session was used: it now ends in 30 days."""
    touch_device(tx, device_id=device_id, seen_from=seen_from)
    tx.run(
        "update sessions set last_seen_at = :now, expires_at = :expires where id = :id",
        id=session_id,
        now=tx.now,
        expires=tx.now + SESSION_LIFETIME_MS,
    )


def touch_device(tx: Tx, *, device_id: str, seen_from: str) -> None:
    tx.run(
        "update devices set last_seen_at = :now, seen_from = :seen_from where id = :id",
        id=device_id,
        seen_from=seen_from or None,
        now=tx.now,
    )


# Invites and users


def create_invite(
    tx: Tx, principal: Principal, *, email: str | None, expires_in_days: int, role: Role = "member"
) -> tuple[Invite, str]:
    """Create a one-time invite. Its code is shown once."""
    code = tokens.new_token()
    invite = Invite(
        id=new_id("inv"),
        email=None if email is None else valid_email(email),
        role=role,
        created_at=tx.now,
        expires_at=tx.now + valid_days(expires_in_days) * DAY_MS,
        used_at=None,
        revoked_at=None,
    )
    tx.run(
        """
        insert into invites (id, code_digest, email, role, created_by, created_at, expires_at)
        values (:id, :digest, :email, :role, :by, :now, :expires)
        """,
        id=invite.id,
        digest=tokens.digest(code),
        email=invite.email,
        role=role,
        by=principal.user_id,
        now=tx.now,
        expires=invite.expires_at,
    )
    return invite, code


def revoke_invite(tx: Tx, principal: Principal, *, invite_id: str) -> None:
    changed = tx.run(
        "update invites set revoked_at = coalesce(revoked_at, :now) where id = :id and used_at is null",
        id=invite_id,
        now=tx.now,
    )
    if not changed:
        raise NotFound("There is no such open invite.")


def set_role(tx: Tx, *, user_id: str, role: Role) -> None:
    """Change a user's role, but not that of the last admin. Sessions go on, as each request reads the role anew; the
    news of it closes open sockets, which keep the rights that they were opened with."""
    user = queries.user(tx, user_id)
    if user is None:
        raise NotFound("There is no such user.")
    if user.role == role:
        return
    if user.role == "admin" and queries.admins(tx) == 1:
        raise Conflict("The last admin can't be demoted: make somebody else an admin first.")
    tx.run("update users set role = :role where id = :id", id=user_id, role=role)
    _tell(tx, kind="role.changed", id=user_id, audience=user_id)


def end_all_sessions(tx: Tx) -> int:
    """End every session of all users. Returns how many ended."""
    rows = tx.all("select device_id from sessions")
    for (device_id,) in rows:
        _revoke(tx, device_id=str(device_id))
    return len(rows)


def revoke_session(tx: Tx, principal: Principal, *, session_id: str) -> None:
    """End one of the caller's own sessions."""
    row = tx.one(
        "select device_id from sessions where id = :id and user_id = :user_id",
        id=session_id,
        user_id=principal.user_id,
    )
    if row is None:
        raise NotFound("There is no such session.")
    _revoke(tx, device_id=str(row[0]))


def create_pairing_code(tx: Tx, principal: Principal, *, capabilities: Mapping[str, bool]) -> tuple[str, int]:
    """Create a code for a new device of the caller. Returns it and when it expires. It may grant no more than the
    caller has."""
    unknown = sorted(capabilities.keys() - set(CAPABILITIES))
    if unknown:
        raise Invalid(f"There is no capability {unknown[0]!r}.")
    wanted = {name: True for name in CAPABILITIES if capabilities.get(name)}
    if not principal.is_admin and not ADMINS_CAPABILITIES.isdisjoint(wanted):
        raise Forbidden("Only an admin may pair a device that acts as an admin, opens a shell or uses terminals.")
    if principal.via == "device":
        raise Forbidden("A device can't pair another device: use the settings in a browser.")
    code = tokens.new_pairing_code()
    expires_at = tx.now + PAIRING_LIFETIME_MS
    tx.run(
        "delete from pairing_codes where expires_at <= :now or created_at > :latest",
        now=tx.now,
        latest=tx.now + CLOCK_SLACK_MS,
    )
    _must_have_room_for_a_code(tx, principal)
    tx.run(
        """
        insert into pairing_codes (code_digest, user_id, capabilities, created_at, expires_at)
        values (:digest, :user_id, :capabilities, :now, :expires)
        """,
        digest=tokens.digest(tokens.normal_pairing_code(code)),
        user_id=principal.user_id,
        capabilities=msgspec.json.encode(wanted).decode(),
        now=tx.now,
        expires=expires_at,
    )
    return code, expires_at


def claim_pairing_code(tx: Tx, *, code: str, name: str, kind: str) -> tuple[Device, str] | None:
    """Turn a code into a device and its token, once. ``None`` for a wrong, used or expired code: one answer for all
    three."""
    kind = _device_kind(kind)
    code_digest = tokens.digest(tokens.normal_pairing_code(code))
    row = tx.one(
        """
        select user_id, capabilities from pairing_codes
        where code_digest = :digest and used_at is null and expires_at > :now and created_at <= :latest
        """,
        digest=code_digest,
        now=tx.now,
        latest=tx.now + CLOCK_SLACK_MS,
    )
    if row is None:
        return None
    tx.run("update pairing_codes set used_at = :now where code_digest = :digest", digest=code_digest, now=tx.now)
    token = tokens.new_device_token()
    device_id = _add_device(
        tx, user_id=row[0], kind=kind, name=name, capabilities=str(row[1]), token_digest=tokens.digest(token)
    )
    device = queries.device(tx, device_id)
    assert device is not None
    return device, token


def revoke_device(tx: Tx, principal: Principal, *, device_id: str) -> None:
    """Revoke a device of the caller; an admin may revoke anybody's. The next request with its token fails."""
    device = queries.device(tx, device_id)
    if device is None or (device.user_id != principal.user_id and not principal.is_admin):
        raise NotFound("There is no such device.")
    _revoke(tx, device_id=device_id)


def _must_have_room_for_a_code(tx: ReadTx, principal: Principal) -> None:
    """Raises 429 while the caller has the maximum of open codes, with the time until the first of them expires."""
    opened, first_end = tx.one(
        "select count(*), min(expires_at) from pairing_codes where user_id is :user_id and used_at is null",
        user_id=principal.user_id,
    ) or (0, None)
    if cast(int, opened) >= MAX_OPEN_PAIRING_CODES:
        wait_s = -(-(cast(int, first_end) - tx.now) // SECOND_MS)
        raise Refusal(
            f"{MAX_OPEN_PAIRING_CODES} pairing codes are open. Use one of them, or wait until they end: five minutes "
            "at most.",
            code="rate_limited",
            headers={"Retry-After": str(wait_s)},
        )


def _device_kind(kind: str) -> str:
    """Check the kind that a device gives. It can't be a browser's session, which is signed in and listed separately."""
    kind = kind.strip()
    if not kind or len(kind) > MAX_KIND_CHARS or not kind.isprintable():
        raise Invalid(f"The kind of a device is one line of at most {MAX_KIND_CHARS} characters.")
    if kind.casefold() == WEB_SESSION:
        raise Invalid("A browser's session is not paired: sign in.")
    return kind


# Claiming


def keep_claim_token(tx: Tx, *, token: str | None) -> None:
    """At boot: store the digest of ``SVC_CLAIM_TOKEN`` instead of an earlier one. A used token stays used."""
    tx.run("delete from claim_tokens where used_at is null")
    if token is not None:
        tx.run(
            """
            insert into claim_tokens (token_digest, created_at) values (:digest, :now) on conflict do nothing
            """,
            digest=tokens.digest(token),
            now=tx.now,
        )


def anybody_could_claim(tx: ReadTx) -> bool:
    """Whether this instance is unclaimed and can be claimed without a credential."""
    return not queries.is_claimed(tx) and not can_be_claimed_from_afar(tx)


def can_be_claimed_from_afar(tx: ReadTx) -> bool:
    """Whether some unused credential (the claim token, an admin bootstrap invite) could claim this instance."""
    return bool(
        tx.value(
            """
            select exists (select 1 from claim_tokens where used_at is null) or exists (
                select 1 from invites
                where role = 'admin' and used_at is null and revoked_at is null and expires_at > :now
            )
            """,
            now=tx.now,
        )
    )


def _claim(tx: Tx, proof: Proof, email: str, *, invite: str | None, claiming: Claiming) -> User:
    bootstrap = None if claiming.freely else _spend_claim(tx, email, invite)
    user = add_user(tx, proof, email, role="admin")
    if bootstrap is not None:
        _use_invite(tx, bootstrap, user)
    for hook in claiming.hooks:
        hook(tx, user.id)
    _tell(tx, kind=CLAIMED, id="instance", audience=None)
    return user


def _spend_claim(tx: Tx, email: str, credential: str | None) -> Invite | None:
    """Use up the claim token, or find the admin bootstrap invite to use. Raises :class:`Forbidden` if there is
    neither."""
    if not credential:
        raise NOT_ADMITTED
    spent = tx.run(
        "update claim_tokens set used_at = :now where token_digest = :digest and used_at is null",
        digest=tokens.digest(credential),
        now=tx.now,
    )
    if spent:
        return None
    invite = queries.open_invite(tx, tokens.digest(credential), email=email)
    if invite is None or invite.role != "admin":
        raise NOT_ADMITTED
    return invite


# Helpers


def _known(tx: Tx, proof: Proof, email: str) -> User | None:
    """The user of a proof: by subject if it has one, else by the address, which the proof guarantees."""
    if proof.issuer is not None and proof.subject is not None:
        by_subject = queries.user_by_identity(tx, issuer=proof.issuer, subject=proof.subject)
        if by_subject is not None:
            return by_subject
    return queries.user_by_email(tx, email)


def _redeem(tx: Tx, proof: Proof, email: str, *, invite: str | None) -> User:
    found = queries.open_invite(tx, tokens.digest(invite), email=email) if invite else None
    if found is None:
        raise NOT_ADMITTED
    user = add_user(tx, proof, email, role=found.role)
    _use_invite(tx, found, user)
    return user


def _use_invite(tx: Tx, invite: Invite, user: User) -> None:
    tx.run(
        "update invites set used_at = :now, used_by = :user_id where id = :id",
        id=invite.id,
        user_id=user.id,
        now=tx.now,
    )


def add_user(tx: Tx, proof: Proof, email: str, *, role: Role) -> User:
    user = User(
        id=new_id("usr"),
        email=email,
        name=(proof.name.strip() or email.partition("@")[0])[:MAX_NAME_CHARS],
        role=role,
        created_at=tx.now,
    )
    tx.run(
        "insert into users (id, email, name, role, created_at) values (:id, :email, :name, :role, :now)",
        id=user.id,
        email=user.email,
        name=user.name,
        role=role,
        now=tx.now,
    )
    return user


def _link(tx: Tx, proof: Proof, user: User) -> None:
    if proof.issuer is None or proof.subject is None:
        return
    tx.run(
        """
        insert into identities (issuer, subject, user_id, email, created_at)
        values (:issuer, :subject, :user_id, :email, :now) on conflict do nothing
        """,
        issuer=proof.issuer,
        subject=proof.subject,
        user_id=user.id,
        email=normal_email(proof.email),
        now=tx.now,
    )


def _open_session(tx: Tx, user: User, *, device_name: str, seen_from: str) -> SignedIn:
    tx.run("delete from sessions where expires_at <= :now", now=tx.now)
    cookie = tokens.new_token()
    device_id = _add_device(
        tx, user_id=user.id, kind=WEB_SESSION, name=device_name, capabilities="{}", token_digest=None
    )
    touch_device(tx, device_id=device_id, seen_from=seen_from)
    tx.run(
        """
        insert into sessions (id, cookie_digest, user_id, device_id, created_at, last_seen_at, expires_at)
        values (:id, :digest, :user_id, :device_id, :now, :now, :expires)
        """,
        id=new_id("ses"),
        digest=tokens.digest(cookie),
        user_id=user.id,
        device_id=device_id,
        now=tx.now,
        expires=tx.now + SESSION_LIFETIME_MS,
    )
    return SignedIn(user=user, device_id=device_id, cookie=cookie)


def _add_device(
    tx: Tx, *, user_id: str | None, kind: str, name: str, capabilities: str, token_digest: str | None
) -> str:
    device_id = new_id("dev")
    tx.run(
        """
        insert into devices (id, user_id, kind, name, capabilities, token_digest, created_at, last_seen_at)
        values (:id, :user_id, :kind, :name, :capabilities, :digest, :now, :now)
        """,
        id=device_id,
        user_id=user_id,
        kind=kind,
        name=name.strip()[:MAX_NAME_CHARS],
        capabilities=capabilities,
        digest=token_digest,
        now=tx.now,
    )
    return device_id


def _revoke(tx: Tx, *, device_id: str) -> None:
    """End a device and its session; the news of it closes its open sockets."""
    tx.run("delete from sessions where device_id = :id", id=device_id)
    if tx.run("update devices set revoked = 1 where id = :id and revoked = 0", id=device_id):
        _tell(tx, kind="device.revoked", id=device_id, audience=None)


def _tell(tx: Tx, *, kind: str, id: str, audience: str | None) -> None:
    tx.emit(topic=IDENTITY_TOPIC, kind=kind, id=id, audience=audience)


def valid_days(days: int) -> int:
    """How long an invite lives."""
    if not 1 <= days <= INVITE_MAX_DAYS:
        raise Invalid(f"An invite lives 1 to {INVITE_MAX_DAYS} days.")
    return days


def valid_email(email: str) -> str:
    found = normal_email(email)
    local, at, domain = found.rpartition("@")
    printable = found.isprintable() and " " not in found
    if not (at and local and domain and printable) or len(found) > MAX_EMAIL_CHARS:
        raise Invalid("That is not a mail address.")
    return found
