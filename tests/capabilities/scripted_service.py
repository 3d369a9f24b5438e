"""An outside service that answers as it is told, in place of the workspace's HTTP client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.protocol import Headers
from svc.protocol.egress import EgressFault, EgressResponse


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


@dataclass
class ScriptedService:
    """``answer`` ``None``: the service can't be reached."""

    answer: Answer | None
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        self.asked.append((method, url, dict(headers or {})))
        if self.answer is None:
            raise EgressFault("connect", "nobody listens", may_have_happened=False)
        return EgressResponse(status=self.answer.status, headers=Headers(), body=self.answer.body)
