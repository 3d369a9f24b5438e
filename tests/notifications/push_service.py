"""A push service, and a browser that subscribed there: it reads what comes with another implementation than ours."""

from __future__ import annotations

import base64
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import http_ece
import trio
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.protocol.small_internet import PUBLIC, Internet, answer

HOST: Final = "push.example"


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class Subscription:
    """As a browser makes it, with the half that it keeps to itself."""

    number: int = 1
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def told(self) -> dict[str, str]:
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {"endpoint": f"https://{HOST}/{self.number}", "p256dh": text(point), "auth": text(self.secret)}

    def read(self, body: bytes) -> Any:
        return json.loads(http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"))


@dataclass
class PushService(Internet):
    """``replies``: to the pushes, one after the other, the last for ever."""

    names: dict[str, list[list[str]]] = field(default_factory=lambda: {HOST: [[PUBLIC]]})
    replies: list[bytes] = field(default_factory=lambda: [answer(status="201 Created")])
    pushes: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def serve(self, stream: trio.abc.Stream) -> None:
        tls = trio.SSLStream(stream, self.server_tls, server_side=True, https_compatible=True)
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            heard = b""
            while b"\r\n\r\n" not in heard:
                heard += bytes(await tls.receive_some())
            head, _, body = heard.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            while len(body) < int(fields["content-length"]):
                body += bytes(await tls.receive_some())
            self.pushes.append(({**fields, "": lines[0]}, body))
            await tls.send_all(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])
            await tls.aclose()
