"""The stand-in server's users, invites, devices and sessions, as the identity procedures show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.web import fake_inside, fake_mail
from tests.web.fake_mail import NOW, at
from tests.web.fake_server import FakeAnswers, Refusal

CODE, OTHER_CODE = "7KQ2M-XW4RT", "H8N5P-2CDYV"
LINK = "https://tern.example/login?invite=q9V-2kHc3Jx8sLw0TzYbN5mRd7fGpU1aEoKi4WjXvQ6"
AGENT = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"

MIA = {"id": "usr_mia", "email": "mia@ternandtide.example", "name": "Mia Tern", "role": "admin"}
JONAS = {"id": "usr_jonas", "email": "jonas@ternandtide.example", "name": "Jonas Feld", "role": "member"}
ASTRID = {"id": "usr_astrid", "email": "astrid.lindqvist-thorvaldsen@ternandtide.example", "name": "", "role": "member"}


def ahead(**after: float) -> str:
    return (NOW + timedelta(**after)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def signed_in(user: dict[str, Any] = MIA, **fields: Any) -> dict[str, Any]:
    return fake_mail.me(user=user, mode="claimed", **fields)


def users() -> list[dict[str, Any]]:
    return [{**user, "createdAt": at(days=40 - 9 * n)} for n, user in enumerate((MIA, JONAS, ASTRID))]


def named(user: dict[str, Any]) -> dict[str, Any]:
    return {name: user[name] for name in ("id", "email", "name")}


def invites() -> list[dict[str, Any]]:
    def one(number: int, email: str | None, expires: str, **fields: Any) -> dict[str, Any]:
        base = {"id": f"inv_{number}", "email": email, "createdAt": at(days=number), "expiresAt": expires}
        return {**base, "usedAt": None, "revokedAt": None, "usedBy": None, **fields}

    return [
        one(1, "noor@harbour.example", ahead(days=6, hours=1)),
        one(2, None, ahead(hours=5, minutes=3)),
        one(3, None, at(days=1)),
        one(4, JONAS["email"], ahead(days=3), usedAt=at(days=3), usedBy=named(JONAS)),
        one(5, "old@harbour.example", ahead(days=2), revokedAt=at(days=4)),
    ]


CONNECTED = "idp.oauth.mia@ternandtide.example"


KEY = "/home/mia/.config/svc/keys/home_kag3nk5m1uj3mb17jb0a"
CHECKS = [
    {"name": name, "summary": summary, "state": state, "detail": detail, "remedy": remedy}
    for name, summary, state, detail, remedy in (
        ("settings", "Every variable is understood.", "ok", "52 settings, all of them understood", ""),
        (
            "keys",
            "The key is private.",
            "failed",
            f"The master key {KEY} can be read by others",
            f"Run: chmod 600 {KEY}",
        ),
        ("disk", "The disk has room.", "warning", "The disk is nearly full: 195 MiB are free", "Delete something"),
        ("worker", "How the worker plane is kept apart.", "skipped", "Nothing runs there yet", ""),
    )
]


def credentials() -> list[dict[str, Any]]:
    def one(name: str, title: str, *fields: str, at: str | None = None, **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "title": title,
            "purpose": "Agents ask its models.",
            "obtain": "The console of the vendor, API keys.",
            "fields": [{"name": field, "label": field.title(), "secret": True, "setting": "A_KEY"} for field in fields],
            "callbacks": [],
            "probed": True,
            "configured": at is not None,
            "source": "user" if at else None,
            "version": 1 if at else None,
            "updatedAt": at,
            "lastUsedAt": at,
            "lastUsedBy": "agents" if at else None,
            **more,
        }

    return [
        one("llm.a", "Model vendor A", "value", at=ahead(hours=-5)),
        one("im-b", "Telegram", "botToken", "session"),
        one(
            "idp.oauth.mia@ternandtide.example", "idp.oauth.mia@ternandtide.example", at=ahead(hours=-9), source="oauth"
        ),
    ]


def device(number: int, name: str, kind: str = "web-session", **fields: Any) -> dict[str, Any]:
    base = {"id": f"dev_{number}", "userId": MIA["id"], "kind": kind, "name": name, "capabilities": {}}
    return {
        **base,
        "seenFrom": f"198.51.100.{number}",
        "revoked": False,
        "lastSeenAt": at(minutes=12 * number),
        **fields,
    }


def devices() -> list[dict[str, Any]]:
    return [
        device(1, AGENT.format("X11; Linux x86_64")),
        device(2, IPHONE),
        device(3, FIREFOX),
        device(4, "Mia’s phone", "mobile", capabilities={"mobilePush": True}),
        device(5, "workshop terminal", "cli", capabilities={"terminal": True, "shell": True}),
        device(
            6, "Jonas’ browser extension", "extension", userId=JONAS["id"], capabilities={"extensionAutomation": True}
        ),
        device(7, FIREFOX, userId=JONAS["id"]),
        device(8, "Lost tablet", "mobile", revoked=True),
    ]


def sessions() -> list[dict[str, Any]]:
    return [
        {
            "id": f"ses_{n}",
            "deviceId": f"dev_{n}",
            "createdAt": at(days=3 * n),
            "lastSeenAt": at(minutes=40) if n == 1 else at(days=n - 1, hours=4),
            "current": n == 1,
        }
        for n in (1, 2, 3)
    ]


@dataclass
class IdentityAnswers(FakeAnswers):
    """Adds people, devices and sessions. ``refusing``: the reason why the next sign-in fails."""

    me: dict[str, Any] = field(default_factory=signed_in)
    users: list[dict[str, Any]] = field(default_factory=users)
    invites: list[dict[str, Any]] = field(default_factory=invites)
    devices: list[dict[str, Any]] = field(default_factory=devices)
    sessions: list[dict[str, Any]] = field(default_factory=sessions)
    posts: list[tuple[str, Any]] = field(default_factory=list)
    refusing: str | None = None
    code_lasts_s: float = 300.0
    """The first one. Those after it last as long as the service's do."""

    def auth(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.posts.append((path, body))
        if self.refusing:
            return 403, {"title": "Forbidden", "status": 403, "detail": self.refusing, "code": "forbidden"}
        self.me.update(user=None if path == "/auth/logout" else MIA, mode="claimed")
        return 200, {"user": self.me["user"]}

    def rpc_auth_createinvite(self, given: dict[str, Any]) -> Any:
        expires = ahead(days=given["expiresInDays"])
        made = {"id": "inv_new", "email": given.get("email"), "createdAt": at(seconds=0), "expiresAt": expires}
        self.invites.insert(0, {**made, "usedAt": None, "revokedAt": None, "usedBy": None})
        return {"code": LINK.partition("=")[2], "url": LINK, "expiresAt": expires}

    def rpc_auth_invites(self, given: dict[str, Any]) -> Any:
        return self.invites

    def rpc_auth_revokeinvite(self, given: dict[str, Any]) -> Any:
        self.found(self.invites, given["id"])["revokedAt"] = at(seconds=0)
        return {}

    def rpc_auth_sessions(self, given: dict[str, Any]) -> Any:
        return self.sessions

    def rpc_auth_revokesession(self, given: dict[str, Any]) -> Any:
        self.sessions.remove(self.found(self.sessions, given["id"]))
        return {}

    def rpc_capabilities_list(self, given: dict[str, Any]) -> Any:
        return [*credentials(), *self.clients]

    def rpc_capabilities_audit(self, given: dict[str, Any]) -> Any:
        use = {"name": "llm.a", "actor": "agents", "purpose": "ask a model", "runId": None, "outcome": "granted"}
        return {"rows": [{"at": ahead(hours=-1), **use}], "nextCursor": None}

    def rpc_health_check(self, given: dict[str, Any]) -> Any:
        return {"checks": CHECKS}

    def rpc_inside_look(self, given: dict[str, Any]) -> Any:
        return fake_inside.LOOK

    def rpc_users_list(self, given: dict[str, Any]) -> Any:
        return self.users

    def rpc_users_setrole(self, given: dict[str, Any]) -> Any:
        user = self.found(self.users, given["id"])
        if user["role"] == "admin" and sum(one["role"] == "admin" for one in self.users) == 1:
            raise Refusal("CONFLICT", 409, "The last admin can't be demoted: make somebody else an admin first.")
        user["role"] = given["role"]
        if self.me["user"]["id"] == user["id"]:
            self.me["user"] = {**self.me["user"], "role": given["role"]}
        return {}

    def rpc_devices_list(self, given: dict[str, Any]) -> Any:
        return self.devices

    def rpc_devices_createpairingcode(self, given: dict[str, Any]) -> Any:
        again = sum(name == "devices.createPairingCode" for name, _ in self.calls) > 1
        ends = datetime.now(UTC) + timedelta(seconds=300 if again else self.code_lasts_s)
        return {"code": OTHER_CODE if again else CODE, "expiresAt": ends.isoformat(timespec="milliseconds")}

    def rpc_devices_revoke(self, given: dict[str, Any]) -> Any:
        self.found(self.devices, given["id"])["revoked"] = True
        return {}

    @staticmethod
    def found(rows: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
        for row in rows:
            if row["id"] == wanted:
                return row
        raise Refusal("NOT_FOUND", 404, "There is no such record.")
