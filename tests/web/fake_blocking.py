"""The part of the stand-in server that blocks senders: a list, and no more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.web import fake_mail


@dataclass
class BlockingPart:
    """``blocked``: the rows that the settings show."""

    blocked: list[dict[str, Any]] = field(default_factory=list)

    def rpc_mail_blocksender(self, given: dict[str, Any]) -> Any:
        address = "jonas@feld.example"
        account = None if given["everywhere"] else fake_mail.accounts()[0]["id"]
        since = "2026-11-21T08:00:00.000Z"
        row = {
            "id": str(len(self.blocked)),
            "address": address,
            "accountId": account,
            "to": given["to"],
            "since": since,
        }
        self.blocked.append(row)
        return {"address": address}

    def rpc_mail_unblocksender(self, given: dict[str, Any]) -> Any:
        self.blocked = [row for row in self.blocked if row["id"] != given["id"]]
        return {}

    def rpc_mail_blockedsenders(self, given: dict[str, Any]) -> Any:
        return self.blocked
