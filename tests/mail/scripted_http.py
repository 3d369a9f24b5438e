"""The other side of the wire, scripted: answers in order, and what was asked. Stands in for ``Egress``."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import msgspec
import trio

from svc.protocol.egress import EgressFault, EgressResponse
from svc.protocol.messages import Headers

Answer = EgressResponse | EgressFault


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    at_s: float

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.url).query)

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs((self.body or b"").decode()).items()}

    @property
    def json(self) -> object:
        return msgspec.json.decode(self.body or b"null")


@dataclass
class ScriptedHttp:
    """Answers with ``answers`` in turn, then with ``otherwise``. ``before`` runs before each answer."""

    answers: list[Answer] = field(default_factory=list)
    otherwise: Answer | None = None
    takes_s: float = 0.0
    asked: list[Asked] = field(default_factory=list)
    before: Callable[[], Awaitable[None]] | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        assert 0 < deadline_s < 600
        assert limit_bytes > 0
        self.asked.append(Asked(method=method, url=url, headers=headers, body=body, at_s=trio.current_time()))
        await trio.sleep(self.takes_s)
        if self.before is not None:
            await self.before()
        answer = self.answers.pop(0) if self.answers else self.otherwise
        assert answer is not None, f"nobody expected {method} {url}"
        if isinstance(answer, EgressFault):
            raise answer
        return answer


def answer(body: object = b"", *, status: int = 200, **headers: str) -> EgressResponse:
    """``body``: bytes as they are, anything else as JSON. ``retry_after="5"`` becomes ``retry-after: 5``."""
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return EgressResponse(status=status, headers=Headers(fields), body=data)


def google_error(status: int, *, reason: str = "", message: str = "", **headers: str) -> EgressResponse:
    """An error in Google's old manner."""
    error = {"code": status, "message": message, "errors": [{"reason": reason}] if reason else [], "status": "X_Y"}
    return answer({"error": error}, status=status, **headers)


def no_answer(*, may_have_happened: bool) -> EgressFault:
    kind, detail = ("closed", "the connection was cut") if may_have_happened else ("connect", "nobody listens")
    return EgressFault(kind, detail, may_have_happened=may_have_happened)  # type: ignore[arg-type]


def id_token(**claims: object) -> str:
    def part(record: object) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(record)).decode().rstrip("=")

    return f"{part({'alg': 'RS256'})}.{part(claims)}.c2ln"
