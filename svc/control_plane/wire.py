"""The inputs and answers of the escrow API."""

from __future__ import annotations

from svc.protocol import Wire


class WrappedKey(Wire, frozen=True):
    """The stored key of a tenant. ``context`` is the encryption context that unwraps it."""

    tenant_id: str
    version: int
    wrapped_key: str
    kms_key_id: str
    context: dict[str, str]
    created_at: str


class NewKey(Wire, frozen=True):
    """``version`` is the next one: 1, or one more than the version in ``If-Match``."""

    wrapped_key: str
    kms_key_id: str
    context: dict[str, str]
    version: int


class AuditEntry(Wire, frozen=True):
    """One call that a credential made. ``version`` is that of the key it got or stored."""

    id: int
    at: str
    action: str
    outcome: str
    credential_id: str
    cell_id: str
    version: int | None
    request_id: str


class Audit(Wire, frozen=True):
    """The newest first; ``next`` is the ``before`` of the next page, if there is one."""

    tenant_id: str
    entries: list[AuditEntry]
    next: int | None
