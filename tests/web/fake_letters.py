"""What a mail asks of its reader, as the stand-in server knows it: mailings to leave, and invitations to answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class LetterPart:
    mailings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By message: the way out that it offers."""
    left: dict[str, dict[str, Any]] = field(default_factory=dict)

    invitations: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By message."""

    def rpc_mail_invitation(self, given: dict[str, Any]) -> Any:
        return self.invitations.get(given["messageId"])

    def rpc_mail_answerinvitation(self, given: dict[str, Any]) -> Any:
        self.invitations[given["messageId"]] |= {"state": "answered", "answer": given["answer"]}
        return {"outgoingId": "out_answer"}

    def rpc_mail_unsubscribeoffer(self, given: dict[str, Any]) -> Any:
        return self.mailings[given["messageId"]]

    def rpc_mail_unsubscribe(self, given: dict[str, Any]) -> Any:
        offer = self.mailings[given["messageId"]]
        self.left[given["messageId"]] = offer
        is_link = offer["method"] == "link"
        return {"method": offer["method"], "url": "about:blank" if is_link else None, "outgoingId": None}

    def rpc_mail_unsubscribed(self, given: dict[str, Any]) -> Any:
        offer = self.left.get(given["messageId"])
        if offer is None:
            return {"unsubscribed": None}
        outcome = {"one-click": "done", "mailto": "sent", "link": "opened"}[offer["method"]]
        return {"unsubscribed": {**offer, "outcome": outcome, "detail": None, "at": "2026-11-20T08:00:00.000Z"}}
