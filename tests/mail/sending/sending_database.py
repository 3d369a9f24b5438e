"""An in-memory database with people, accounts and outgoing mail.

For tests of single statements and decisions, without a store, a loop or a provider.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from svc.clock import Millis
from svc.mail.accounts import actions as account_actions
from svc.mail.model import MessageHeaders
from svc.mail.sending import actions, queries
from svc.mail.sending.model import Outgoing, SendRequest
from svc.principal import Principal
from svc.store import Tx
from tests.mail.bare import NOON, bare_tx


def person(name: str) -> Principal:
    return Principal(user_id=f"usr_{name}", device_id=f"dev_{name}", is_admin=False, via="session")


MIA: Final = person("mia")
BEN: Final = person("ben")


@dataclass
class SendingDatabase:
    """The database, with one account of Mia's."""

    tx: Tx = field(default_factory=bare_tx)
    account_id: str = ""

    def __post_init__(self) -> None:
        self.account_id = self.account(MIA, "mia@example.org")

    def account(self, owner: Principal, address: str) -> str:
        return account_actions.connect(self.tx, owner, address=address, provider="fake")

    def disconnect(self) -> None:
        self.tx.run("update mail_accounts set state = 'disconnected' where id = :id", id=self.account_id)

    def share(self, with_: Principal, access: str = "act") -> None:
        self.tx.run(
            "insert into mail_shares (account_id, user_id, access, since) values (:id, :user_id, :access, 1)",
            id=self.account_id,
            user_id=with_.user_id,
            access=access,
        )

    def unshare(self) -> None:
        self.tx.run("delete from mail_shares")

    def request(self, **more: Any) -> SendRequest:
        wanted: dict[str, Any] = {
            "account_id": self.account_id,
            "to": ("noa@example.org",),
            "cc": (),
            "bcc": (),
            "subject": "Hello",
            "html": "<p>Hi.</p>",
            "attachments": (),
            "thread_id": None,
            "quote": None,
        }
        return SendRequest(**{**wanted, **more})

    def accept(
        self,
        *,
        by: Principal = MIA,
        send_at: Millis | None = None,
        hold_ms: int = 0,
        draft_id: str | None = None,
        **more: Any,
    ) -> Outgoing:
        return actions.accept(
            self.tx, by, request=self.request(**more), send_at=send_at, draft_id=draft_id, hold_ms=hold_ms
        )

    def put(self, id: str, **columns: Any) -> str:
        """An outgoing mail as a bare row."""
        row = {
            "id": id,
            "owner_id": MIA.user_id,
            "sent_by": MIA.user_id,
            "device_id": MIA.device_id,
            "account_id": self.account_id,
            "from_address": "mia@example.org",
            "to_addresses": '["noa@example.org"]',
            "cc_addresses": "[]",
            "bcc_addresses": "[]",
            "subject": "Hello",
            "html": "",
            "attachments": "[]",
            "reference_ids": "[]",
            "message_id_header": f"{id}@example.org",
            "state": "scheduled",
            "created_at": NOON,
            "changed_at": NOON,
            **columns,
        }
        self.tx.run(
            f"insert into mail_outgoing ({', '.join(row)}) values ({', '.join(f':{name}' for name in row)})", **row
        )
        return id

    def change(self, outgoing_id: str, **columns: Any) -> Outgoing:
        self.tx.run(
            f"update mail_outgoing set {', '.join(f'{name} = :{name}' for name in columns)} where id = :id",
            **columns,
            id=outgoing_id,
        )
        return self.row(outgoing_id)

    def row(self, outgoing_id: str) -> Outgoing:
        row = queries.outgoing(self.tx, outgoing_id)
        assert row is not None
        return row

    def attach(self, file_id: str, *, origin: str, owner: Principal = MIA) -> str:
        self.tx.run(
            """
            insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
            values (:id, :owner_id, :sha256, 'a.txt', 'text/plain', 4, :origin, 1)
            """,
            id=file_id,
            owner_id=owner.user_id,
            sha256="0" * 64,
            origin=origin,
        )
        return file_id

    def files(self, origin: str) -> list[str]:
        rows = self.tx.all("select id from files where origin = :origin order by id", origin=origin)
        return [str(file_id) for (file_id,) in rows]

    def message(
        self,
        id: str,
        *,
        thread: str = "thr_1",
        account_id: str = "",
        at: Millis = NOON,
        header: str | None = None,
        labels: str = '["INBOX"]',
        headers: MessageHeaders | None = None,
    ) -> str:
        """A message in a thread, which is made where it is not there."""
        account_id = account_id or self.account_id
        self.tx.run(
            """
            insert into mail_threads (id, account_id, provider_thread_id) values (:id, :account_id, :there)
            on conflict do nothing
            """,
            id=thread,
            account_id=account_id,
            there=f"there-{thread}",
        )
        self.tx.run(
            """
            insert into mail_messages (
                id, account_id, thread_id, provider_message_id, message_id_header, sent_at, stored_at, sender_name,
                sender_address, subject, snippet, headers, labels, in_inbox, unread, visible, attachments, own,
                body_sha256, raw_sha256, raw_size, seen_sweep
            ) values (
                :id, :account_id, :thread, :there, :header, :at, :at, 'Noa', 'noa@example.org', 'Plans', '', :headers,
                :labels, 1, 0, 1, 0, 0, 'body', 'raw', 1, 0
            )
            """,
            id=id,
            account_id=account_id,
            thread=thread,
            there=f"there-{id}",
            header=header,
            at=at,
            headers=msgspec.json.encode(headers or MessageHeaders()).decode(),
            labels=labels,
        )
        return id
