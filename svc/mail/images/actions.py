"""Writes which senders a person trusts with pictures, and which remote pictures a sanitized body names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.errors import Conflict, Invalid
from svc.formats.mime.model import MAX_ADDRESS_CHARS
from svc.formats.text import clean_token
from svc.mail.images.queries import MAY_SEE, url_key, who
from svc.principal import Principal
from svc.store import Tx, json_array

MAX_TRUSTED: Final = 5_000
"""Senders whose remote pictures one person always shows. Beyond: 409 `conflict`."""


def trust_sender(tx: Tx, principal: Principal, *, address: str, trusted: bool) -> None:
    """Trust a sender, or end the trust. Pictures of a trusted sender are shown at once in mail with a verified origin.
    Those of others are shown only on request."""
    address = clean_token(address).lower()
    if not trusted:
        tx.run(
            f"delete from mail_trusted_senders where address = :address and {MAY_SEE}",
            address=address,
            **who(principal),
        )
        return
    before, at, after = address.rpartition("@")
    if not (before and at and after) or len(address) > MAX_ADDRESS_CHARS:
        raise Invalid("That is no address that mail could come from.")
    row = tx.one(f"select count(*) from mail_trusted_senders where {MAY_SEE}", **who(principal))
    if row is not None and int(str(row[0])) >= MAX_TRUSTED:
        raise Conflict(f"Pictures of {MAX_TRUSTED} senders are shown already. Take some of them out first.")
    tx.run(
        """
        insert into mail_trusted_senders (owner_id, address, since, bound) values (:owner_id, :address, :now, 1)
        on conflict do update set bound = 1
        """,
        owner_id=principal.user_id,
        address=address,
        now=tx.now,
    )


def bring_back(tx: Tx, *, owner_id: str | None, address: str) -> None:
    """Restore the trust in a sender from an export. It holds only for mail with a verified origin."""
    tx.run(
        """
        insert into mail_trusted_senders (owner_id, address, since, bound) values (:owner_id, :address, :now, 1)
        on conflict do nothing
        """,
        owner_id=owner_id,
        address=clean_token(address).lower(),
        now=tx.now,
    )


def bind(tx: Tx, principal: Principal, *, addresses: Iterable[str]) -> None:
    """Bind the trust in these senders, whose mail has a verified origin: from now on it holds only for such mail."""
    tx.run(
        f"""
        update mail_trusted_senders set bound = 1
        where address in (select value from json_each(:addresses)) and not bound and {MAY_SEE}
        """,
        addresses=json_array(sorted(addresses)),
        **who(principal),
    )


def claim(tx: Tx, user_id: str) -> None:
    """Give the trusted senders that were stored before the server had users to the first admin."""
    tx.run("update mail_trusted_senders set owner_id = :user_id where owner_id is null", user_id=user_id)


def note_images(tx: Tx, *, body_sha256: str, urls: Iterable[str]) -> None:
    """Note the pictures of a body. Only these may be fetched for a person who may read a message with this body."""
    tx.run_many(
        """
        insert into mail_remote_images (url_sha256, body_sha256) values (:url_sha256, :body_sha256)
        on conflict do nothing
        """,
        [{"url_sha256": url_key(url), "body_sha256": body_sha256} for url in urls],
    )


def forget_images(tx: Tx, *, body_sha256: str) -> None:
    """Forget the pictures of a body that no message has any more."""
    tx.run("delete from mail_remote_images where body_sha256 = :sha256", sha256=body_sha256)
