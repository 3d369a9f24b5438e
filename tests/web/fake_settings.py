"""What the stand-in server says about sign-ins at providers, credentials, and a person's preferences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def sign_in(provider: str, service: str, client: str) -> dict[str, Any]:
    return {
        "provider": provider,
        "service": service,
        "client": client,
        "ready": False,
        "faked": False,
        "redirectUri": "http://127.0.0.1:4780/oauth/mail/callback",
        "scopes": ["openid", "email", "https://outlook.office.com/IMAP.AccessAsUser.All"],
    }


def client(name: str, title: str) -> dict[str, Any]:
    fields = (("id", "Client ID", False, "IDP_CLIENT_ID"), ("secret", "Client secret", True, "IDP_CLIENT_SECRET"))
    origin = "http://127.0.0.1:4780"
    return {
        "name": name,
        "title": title,
        "purpose": "Mailboxes are connected through it.",
        "obtain": "The console of the provider.",
        "fields": [dict(zip(("name", "label", "secret", "setting"), one, strict=True)) for one in fields],
        "probed": True,
        "callbacks": [f"{origin}/oauth/mail/callback", f"{origin}/auth/idp/callback"],
        "configured": False,
        "source": None,
        "version": None,
        "updatedAt": None,
        "lastUsedAt": None,
        "lastUsedBy": None,
    }


def sign_ins() -> list[dict[str, Any]]:
    return [sign_in("gmail", "Google", "idp.oauth"), sign_in("outlook", "Microsoft", "microsoft.oauth")]


def clients() -> list[dict[str, Any]]:
    return [client("idp.oauth", "Sign-in and mail"), {**client("microsoft.oauth", "Microsoft mail"), "callbacks": []}]


def preferences() -> dict[str, Any]:
    return {
        "language": "",
        "hours": "auto",
        "dateOrder": "auto",
        "weekStart": "auto",
        "startPage": "inbox",
        "startAccount": "",
        "keys": {},
    }


@dataclass
class SettingsPart:
    preferences: dict[str, Any] = field(default_factory=preferences)
    done: list[dict[str, Any]] = field(default_factory=list)
    """The person's steps that can be taken back."""
    sign_ins: list[dict[str, Any]] = field(default_factory=sign_ins)
    clients: list[dict[str, Any]] = field(default_factory=clients)

    def rpc_preferences_get(self, given: dict[str, Any]) -> Any:
        return self.preferences

    def rpc_preferences_set(self, given: dict[str, Any]) -> Any:
        self.preferences.update(given)
        return self.preferences

    def rpc_mail_undoable(self, given: dict[str, Any]) -> Any:
        return self.done

    def rpc_mail_signins(self, given: dict[str, Any]) -> Any:
        return self.sign_ins

    def rpc_capabilities_list(self, given: dict[str, Any]) -> Any:
        return self.clients
