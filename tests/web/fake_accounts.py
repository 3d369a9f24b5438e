"""Accounts as the settings show them: how each stands, what failed, what is pending; and letting go of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.web import fake_mail
from tests.web.fake_mail import HELLO, HOME, MIA
from tests.web.fake_server import FakeAnswers

EXPIRED = (
    "Access ended seven days after it was granted, as Google does it for OAuth apps in testing. Publish the app in the "
    "Google Cloud console to avoid that, and connect the account again."
)


def failures() -> list[dict[str, Any]]:
    reason = "Gmail gave this message without its content."
    at = fake_mail.at(minutes=4)
    return [{"messageId": "18f2a9c4d1", "step": "fetch", "reason": reason, "attempts": 2, "lastAt": at}]


def changes() -> list[dict[str, Any]]:
    inbox = {"id": "INBOX", "name": "Inbox", "color": None}
    common = {"threadId": "thr_00", "add": [], "remove": [inbox], "createdAt": fake_mail.at(minutes=2)}
    return [{**common, "subject": "Mooring plan", "attempts": 3, "lastError": "Gmail can't be reached."}]


def damage() -> list[dict[str, Any]]:
    """One that will be mended, and one that can't be."""
    common = {"threadId": "thr_00", "subject": "Mooring plan", "attempts": 2, "foundAt": fake_mail.at(minutes=9)}
    gone = "The provider does not have this message any more."
    away = "The account is not connected, so the message can't be fetched again."
    return [
        {**common, "part": "body", "name": None, "state": "lost", "reason": gone},
        {**common, "part": "attachment", "name": "plans.pdf", "state": "waiting", "reason": away},
    ]


@dataclass
class AccountsAnswers(FakeAnswers):
    failures: list[dict[str, Any]] = field(default_factory=failures)
    changes: list[dict[str, Any]] = field(default_factory=changes)
    causes: dict[str, str] = field(default_factory=dict)
    damage: list[dict[str, Any]] = field(default_factory=list)
    notice: str | None = None
    """What the provider could not be told."""

    def __post_init__(self) -> None:
        """One that is well, one that is being read, one that needs its person."""
        self.accounts[0].update(failed=1, pending=1, messages=4_211)
        self.accounts[1].update(state="backfilling", progress=fake_mail.reading(3_120, 48_211), messages=3_120)
        self.accounts[2].update(state="reconnect", problem=EXPIRED, lastSyncedAt=fake_mail.at(days=2))
        self.causes[HOME] = "testing-expired"

    def rpc_mail_health(self, given: dict[str, Any]) -> Any:
        return [self._health(account) for account in self.accounts]

    def rpc_mail_failures(self, given: dict[str, Any]) -> Any:
        return self.failures if given["accountId"] == MIA else []

    def rpc_mail_damage(self, given: dict[str, Any]) -> Any:
        return self.damage if given["accountId"] == MIA else []

    def rpc_mail_pending(self, given: dict[str, Any]) -> Any:
        return self.changes if given["accountId"] == MIA else []

    def rpc_mail_retryfailures(self, given: dict[str, Any]) -> Any:
        self.failures = []
        self.set_account(given["accountId"], failed=0)
        return {}

    def rpc_mail_resync(self, given: dict[str, Any]) -> Any:
        self.set_account(given["accountId"], state="backfilling", progress=fake_mail.reading(0, 4_212))
        return {}

    def rpc_mail_disconnect(self, given: dict[str, Any]) -> Any:
        if given["erase"]:
            self.accounts = [one for one in self.accounts if one["id"] != given["accountId"]]
            self.emit("accounts", "account.removed", given["accountId"], {})
        else:
            self.set_account(given["accountId"], state="disconnected", problem=self.notice, progress=None)
        return {"revoked": self.notice is None, "notice": self.notice}

    def rpc_mail_setaddress(self, given: dict[str, Any]) -> Any:
        wanted = fake_mail.own_address(given["address"], name=given.get("name", ""))
        self.set_addresses(given, [*self.addresses_of(given), wanted])
        return {}

    def rpc_mail_removeaddress(self, given: dict[str, Any]) -> Any:
        self.set_addresses(given, [one for one in self.addresses_of(given) if one["address"] != given["address"]])
        return {}

    def rpc_mail_setdefaultaddress(self, given: dict[str, Any]) -> Any:
        known = self.addresses_of(given)
        self.set_addresses(given, [{**one, "default": one["address"] == given["address"]} for one in known])
        return {}

    def addresses_of(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        (account,) = [one for one in self.accounts if one["id"] == given["accountId"]]
        return list(account["addresses"])

    def set_addresses(self, given: dict[str, Any], addresses: list[dict[str, Any]]) -> None:
        if not any(one["default"] for one in addresses):
            addresses = [{**addresses[0], "default": True}, *addresses[1:]]
        self.set_account(given["accountId"], addresses=addresses)

    def _health(self, account: dict[str, Any]) -> dict[str, Any]:
        reads = account["progress"]
        return {
            "accountId": account["id"],
            "state": account["state"],
            "problem": account["problem"],
            "cause": self.causes.get(account["id"], "other") if account["problem"] else None,
            "lastSyncedAt": account["lastSyncedAt"],
            "progress": {**reads, "etaSeconds": 8_400} if reads else None,
            "provider": 48_211 if account["id"] == HELLO else account["messages"] + account["failed"],
            "here": account["messages"],
            "pending": account["pending"],
            "failed": account["failed"],
            "quota": {"usedLastMinute": 5_320 if reads else 4, "limitPerMinute": 6_000},
            "nextAttemptAt": fake_mail.at(minutes=-3),
            "damaged": len(self.damage) if account["id"] == MIA else 0,
            "lost": len([one for one in self.damage if one["state"] == "lost"]) if account["id"] == MIA else 0,
            "mended": 3 if account["id"] == MIA and self.damage else 0,
            "leftOut": 12 if account["id"] == HELLO else 0,
            "leftOutFirst": ["Public/News", "shared/בוב 7"] if account["id"] == HELLO else [],
        }
