"""Decides whether an identity from a provider may sign in: the rules before ``actions.sign_in``, in its transaction.

An identity is its issuer and subject. An address counts only if the provider has verified it: else anybody who can type
an address at the provider could take over the account, or reserve it before its owner comes. An admin's account is not
tied to a second provider by address alone; the request must also carry the admin's own session.
"""

from __future__ import annotations

from typing import Final

from svc.errors import Forbidden
from svc.identity import actions, queries, tokens
from svc.identity.actions import Claiming, SignedIn
from svc.identity.model import Proof, User, normal_email
from svc.identity.oidc import VerifiedIdentity
from svc.store import Tx

UNVERIFIED: Final = Forbidden(
    "The sign-in service has not verified your mail address, so it can't be used here. Verify it there, then sign in "
    "again."
)
OTHER_PROVIDER: Final = Forbidden(
    "This administrator's account belongs to another sign-in service. Sign in the way you did before, or by a link "
    "from `svc claim`, and then sign in here from the same browser."
)


def admit(
    tx: Tx,
    *,
    who: VerifiedIdentity,
    invite: str | None,
    claiming: Claiming,
    old_cookie: str | None,
    device_name: str,
    seen_from: str,
) -> SignedIn:
    """Sign ``who`` in. Raises :class:`Forbidden` with the sentence that the person sees."""
    email = who.email
    linked = queries.user_by_identity(tx, issuer=who.issuer, subject=who.subject)
    if linked is not None:
        email = linked.email  # the account's address, even if the one at the provider has changed
    elif email is None or not who.email_verified:
        raise UNVERIFIED
    else:
        _check_second_provider(tx, who, email, old_cookie=old_cookie)
    return actions.sign_in(
        tx,
        proof=Proof(email=email, name=who.name, issuer=who.issuer, subject=who.subject),
        invite=invite,
        claiming=claiming,
        old_cookie=old_cookie,
        device_name=device_name,
        seen_from=seen_from,
    )


def _check_second_provider(tx: Tx, who: VerifiedIdentity, email: str, *, old_cookie: str | None) -> None:
    user = queries.user_by_email(tx, normal_email(email))
    if user is None or user.role != "admin" or not _has_other_provider(tx, user, issuer=who.issuer):
        return
    session = None if old_cookie is None else queries.session_by_cookie(tx, tokens.digest(old_cookie))
    if session is None or session[1].id != user.id:
        raise OTHER_PROVIDER


def _has_other_provider(tx: Tx, user: User, *, issuer: str) -> bool:
    found = tx.value(
        "select 1 from identities where user_id = :id and issuer <> :issuer limit 1", id=user.id, issuer=issuer
    )
    return found is not None
