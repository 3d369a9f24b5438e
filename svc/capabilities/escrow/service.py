"""The client of the escrow service: gets the wrapped key of the tenant, or stores its next version.

The credential is sent only to this service: no redirect is followed, and plain http is allowed only on this machine.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import msgspec

from svc.capabilities.escrow.refusals import EscrowRefused, Later
from svc.capabilities.escrow.settings import ESCROW_TOKEN, ESCROW_URL, TENANT_ID
from svc.config import Config
from svc.protocol.egress import Egress, EgressFault, EgressResponse

DEADLINE_S: Final = 15.0
ANSWER_MAX_BYTES: Final = 64 * 1024
PATIENCE_MAX_S: Final = 10.0
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """A wrapped key, as the service stores it."""

    tenant_id: str
    version: int
    wrapped_key: str
    kms_key_id: str
    context: dict[str, str]
    created_at: str = ""


class Problem(msgspec.Struct, frozen=True, rename="camel"):
    """The body of a refusal of the service. ``cell_id``: the service's name for the credential's cell."""

    cell_id: str = ""


class OtherCell(Exception):
    """The credential belongs to the cell ``cell_id``, and the key was wrapped for another: nothing was stored."""

    def __init__(self, cell_id: str) -> None:
        super().__init__(cell_id)
        self.cell_id = cell_id


class EscrowService:
    def __init__(self, config: Config, egress: Egress) -> None:
        url, token, tenant = config[ESCROW_URL], config[ESCROW_TOKEN], config[TENANT_ID]
        assert url is not None, "a rule asked for it"
        assert token is not None, "a rule asked for it"
        assert tenant is not None, "a rule asked for it"
        self._url = f"{url}/v1/keys/{quote(tenant, safe='')}"
        self._token = token
        self._egress = egress

    async def get(self) -> Record | Problem:
        """The current key, or the service's answer if there is none. Raises :class:`EscrowRefused`, or
        :class:`Later`."""
        answer = await self._call("GET")
        if answer.status == 404:
            return _problem(answer)
        if answer.status != 200:
            raise _refusal(answer)
        return _record(answer)

    async def put(self, record: Record, *, after: int) -> bool:
        """Store it as the version that follows ``after`` (0: the first). False where another one was stored first.

        Raises the same, and :class:`OtherCell`; after :class:`Later` it may still have been stored.
        """
        precondition = {"if-match": f'"{after}"'} if after else {"if-none-match": "*"}
        asked = {
            "wrappedKey": record.wrapped_key,
            "kmsKeyId": record.kms_key_id,
            "context": record.context,
            "version": record.version,
        }
        answer = await self._call("PUT", headers=precondition, body=msgspec.json.encode(asked))
        if answer.status in {409, 412}:
            return False
        if answer.status == 404:
            raise _not_ours()
        if answer.status == 400 and (cell := _cell_said(answer)):
            raise OtherCell(cell)
        if answer.status not in {200, 201, 204}:
            raise _refusal(answer)
        return True

    async def _call(
        self, method: str, *, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> EgressResponse:
        fields = {"authorization": f"Bearer {self._token}", "accept": "application/json", **(headers or {})}
        if body is not None:
            fields["content-type"] = "application/json"
        try:
            return await self._egress.request(
                method, self._url, headers=fields, body=body, deadline_s=DEADLINE_S, limit_bytes=ANSWER_MAX_BYTES
            )
        except EgressFault as fault:
            raise Later(_unreachable(fault)) from None


def _record(answer: EgressResponse) -> Record:
    try:
        return msgspec.json.decode(answer.body, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise EscrowRefused(
            ESCROW_URL.name, "what answers is not the escrow service, or half its answer", "check the URL"
        ) from None


def _problem(answer: EgressResponse) -> Problem:
    """The body of a 404. That of the escrow service is JSON; without this check, any other server's would look like a
    tenant without a key."""
    try:
        return msgspec.json.decode(answer.body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise EscrowRefused(
            ESCROW_URL.name, "what answers 404 is not the escrow service", "check the URL and its path"
        ) from None


def _cell_said(answer: EgressResponse) -> str:
    try:
        return msgspec.json.decode(answer.body, type=Problem).cell_id
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def _refusal(answer: EgressResponse) -> Exception:
    status = answer.status
    if status in {401, 403}:
        return EscrowRefused(
            ESCROW_TOKEN.name,
            f"the escrow service does not take this credential ({status})",
            "set the current one; it may have been replaced or disabled at the control plane",
        )
    if 300 <= status < 400:
        return EscrowRefused(
            ESCROW_URL.name,
            f"what answers there sends elsewhere ({status}), which is not followed: the credential is for one service",
            "set the address of the escrow service itself",
        )
    if status in _PASSING:
        refusal = EscrowRefused(
            ESCROW_URL.name,
            f"the escrow service can't answer now ({status})",
            "see its log and its /readyz; then start again",
            passing=True,
        )
        return Later(refusal, after_s=_asked_for(answer))
    return EscrowRefused(
        ESCROW_URL.name, f"the escrow service refused ({status})", "see its log; is it of another version?"
    )


def _not_ours() -> EscrowRefused:
    return EscrowRefused(
        TENANT_ID.name,
        "the credential is not one of this tenant",
        "set the tenant that SVC_KEY_ESCROW_TOKEN was made for",
    )


def _asked_for(answer: EgressResponse) -> float:
    said = answer.headers.get("retry-after") or ""
    return min(float(said), PATIENCE_MAX_S) if said.isascii() and said.isdigit() else 0.0


def _unreachable(fault: EgressFault) -> EscrowRefused:
    return EscrowRefused(
        ESCROW_URL.name,
        f"the escrow service does not answer ({fault.detail})",
        "check the URL and the network, and that the service is up; then start again",
        passing=True,
    )
