"""Remote images as the stand-in server knows them: what the proxy would bring, and whose are trusted."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.sizes import HANGS_S

Answer = tuple[int, str, bytes]


@dataclass
class ImagePart:
    images: dict[str, Answer] = field(default_factory=dict)
    """What the proxy answers for an address; any other is not found."""
    fetched: list[str] = field(default_factory=list)
    trusted: list[str] = field(default_factory=list)
    held: threading.Event | None = None
    """While it is not set, the proxy lets everybody wait."""
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Content by path, where it is not the usual one."""

    def proxied(self, url: str) -> Answer:
        self.fetched.append(url)
        if self.held is not None:
            self.held.wait(HANGS_S)
        return self.images.get(url) or no_image(404, "There is no such image in your mail.")

    def rpc_mail_trustsender(self, given: dict[str, Any]) -> Any:
        self.trusted = [one for one in self.trusted if one != given["address"]]
        if given["trusted"]:
            self.trusted.append(given["address"])
        return {}

    def rpc_mail_trustedsenders(self, given: dict[str, Any]) -> Any:
        return [{"address": one, "since": "2026-11-20T08:00:00.000Z"} for one in self.trusted]


def no_image(status: int, detail: str) -> Answer:
    return status, "application/problem+json", json.dumps({"status": status, "detail": detail}).encode()
