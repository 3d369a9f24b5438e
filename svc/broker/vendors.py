"""The two model vendors: the credential of each, the header for it, and which header fields of a call may pass.

:class:`Vendors` sends the calls. Under ``PROVIDERS=fake`` the stand-in replaces that sending; all else stays the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from svc.broker.forwarding import HEAD_S, IDLE_S, Streamed
from svc.capabilities import LLM_A_URL, LLM_B_URL
from svc.config import Setting
from svc.workspace import Workspace

VendorName = Literal["a", "b"]


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """``form`` is the format of the key in ``header``. ``costs``: the paths whose answers report a cost."""

    name: VendorName
    capability: str
    url: Setting[str]
    header: str
    form: str
    passes: frozenset[str]
    answers: tuple[str, ...]
    costs: frozenset[str]


A: Final = Vendor(
    name="a",
    capability="llm.a",
    url=LLM_A_URL,
    header="x-api-key",
    form="{value}",
    passes=frozenset({"anthropic-version", "anthropic-beta"}),
    answers=("anthropic-ratelimit-", "request-id"),
    costs=frozenset({"/v1/messages", "/v1/complete"}),
)
B: Final = Vendor(
    name="b",
    capability="llm.b",
    url=LLM_B_URL,
    header="authorization",
    form="Bearer {value}",
    passes=frozenset({"openai-beta"}),
    answers=("x-ratelimit-", "openai-processing-ms", "openai-version"),
    costs=frozenset({"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings"}),
)
VENDORS: Final = (A, B)


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """One call as it is sent, with the key. ``target`` is the path and query as the run wrote them."""

    vendor: VendorName
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Send = Callable[[Outgoing], Awaitable[Streamed]]


class Vendors:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._urls = {vendor.name: vendor.url for vendor in VENDORS}
        self._send: Send = self._over_http
        self.want_keys = True

    def replace_all(self, send: Send) -> None:
        """Ask ``send`` instead of the network. A stand-in has no keys, so it needs none."""
        self._send = send
        self.want_keys = False

    async def send(self, call: Outgoing) -> Streamed:
        """Returns when the header of the answer has arrived. Raises ``EgressFault``."""
        return await self._send(call)

    async def _over_http(self, call: Outgoing) -> Streamed:
        workspace = self._workspace
        return await workspace.egress.open(
            call.method,
            workspace.config[self._urls[call.vendor]].rstrip("/") + call.target,
            headers=call.headers,
            body=call.body,
            head_s=HEAD_S,
            idle_s=IDLE_S,
        )
