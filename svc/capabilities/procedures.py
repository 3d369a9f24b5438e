"""The procedures for credentials: for admins only, and no answer ever has a value."""

from __future__ import annotations

from typing import Final

from svc.capabilities import queries
from svc.capabilities.broker import Broker
from svc.capabilities.model import AuditRow, Outcome, Use
from svc.capabilities.server_keys import of_server
from svc.capability import Capability
from svc.clock import rfc3339, rfc3339_or_none
from svc.errors import Invalid, NotFound
from svc.protocol import Nothing, Procedure, Wire
from svc.settings import canonical_origin
from svc.store import ReadTx, SecretRow, SecretSource, Tx
from svc.workspace import RequestContext


class FieldOut(Wire, frozen=True):
    """``secret``: typed like a password, and never shown again. ``setting``: the environment variable that seeds it."""

    name: str
    label: str
    secret: bool
    setting: str


class CapabilityOut(Wire, frozen=True):
    """``fields`` is empty for a credential that no admin sets, because it is connected in another place. ``probed``: a
    test can ask the service. ``callbacks``: the addresses that have to be registered at the service."""

    name: str
    title: str
    purpose: str
    obtain: str
    fields: tuple[FieldOut, ...]
    probed: bool
    callbacks: tuple[str, ...]
    configured: bool
    source: SecretSource | None
    version: int | None
    updated_at: str | None
    last_used_at: str | None
    last_used_by: str | None


class NameInput(Wire, frozen=True):
    name: str


class SetInput(Wire, frozen=True):
    """``value``: one text, or an object of the capability's fields."""

    name: str
    value: str | dict[str, str]


class TestOut(Wire, frozen=True):
    """``message``: the service's own, if it gave one. ``remedy``: what to do, if known."""

    ok: bool
    message: str
    remedy: str


class AuditInput(Wire, frozen=True):
    name: str | None = None
    cursor: str | None = None


class AuditRowOut(Wire, frozen=True):
    at: str
    name: str
    actor: str
    purpose: str
    run_id: str | None
    outcome: Outcome


class AuditOut(Wire, frozen=True):
    rows: tuple[AuditRowOut, ...]
    next_cursor: str | None


async def list_capabilities(context: RequestContext, wanted: Nothing) -> list[CapabilityOut]:
    broker = _broker(context)
    stored, uses = await broker.store.read(_stored, broker)
    origin = canonical_origin(context.workspace.config, port=context.workspace.port)
    rows = [_out(row, stored.get(name), uses.get(name), origin=origin) for name, row in broker.capabilities.items()]
    others = sorted(set(stored) - set(broker.capabilities))
    return [
        *rows,
        *(_out(of_server(name) or _connected(name), stored[name], uses.get(name), origin=origin) for name in others),
    ]


def _stored(tx: ReadTx, broker: Broker) -> tuple[dict[str, SecretRow], dict[str, Use]]:
    return {row.name: row for row in broker.secrets.rows(tx)}, queries.last_uses(tx)


def _connected(name: str) -> Capability:
    """A credential that a person connected: listed, so that an admin sees all stored credentials, but not settable."""
    return Capability(
        name=name,
        title=name,
        purpose="The access of one connected account.",
        obtain="It is made when the account is connected, and goes when it is disconnected: Settings > Accounts.",
        fields=(),
    )


async def set_capability(context: RequestContext, wanted: SetInput) -> Nothing:
    broker = _broker(context)
    row = _settable(broker, wanted.name)
    value = row.encode(row.given(wanted.value))
    await broker.store.write(_set, broker, name=row.name, value=value)
    context.workspace.log.info("capability.set", name=row.name, by=context.principal.user_id or "")
    return Nothing()


def _set(tx: Tx, broker: Broker, *, name: str, value: bytes) -> None:
    broker.secrets.write(tx, name, value, source="user")


async def remove_capability(context: RequestContext, wanted: NameInput) -> Nothing:
    broker = _broker(context)
    row = _settable(broker, wanted.name)
    if not await broker.store.write(broker.secrets.delete, row.name):
        raise NotFound(f"{row.name} is not set.")
    context.workspace.log.info("capability.removed", name=row.name, by=context.principal.user_id or "")
    return Nothing()


async def test_capability(context: RequestContext, wanted: NameInput) -> TestOut:
    broker = _broker(context)
    row = _settable(broker, wanted.name)
    if row.probe is None:
        raise Invalid(f"Nothing here uses {row.name} yet, so there is no service to ask.")
    stored = await broker.door_for_tests().acquire(row.name, purpose="test by an admin")
    if stored is None:
        raise NotFound(f"{row.name} is not set.")
    result = await row.probe(context.workspace, row.decode(stored))
    return TestOut(ok=result.ok, message=result.message, remedy=result.remedy)


async def audit(context: RequestContext, wanted: AuditInput) -> AuditOut:
    before = _seq(wanted.cursor)
    rows = await context.workspace.store.read(queries.audit, name=wanted.name, before=before)
    full = len(rows) == queries.PAGE_ROWS
    return AuditOut(rows=tuple(map(_audit_out, rows)), next_cursor=str(rows[-1].seq) if full else None)


def _seq(cursor: str | None) -> int | None:
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < _MAX_DIGITS):
        raise Invalid("The cursor is not one that capabilities.audit gave.")
    return None if cursor is None else int(cursor)


def _broker(context: RequestContext) -> Broker:
    return context.workspace.service(Broker)


def _settable(broker: Broker, name: str) -> Capability:
    row = broker.capabilities.get(name) or of_server(name)
    if row is None:
        raise NotFound(f"There is no capability {name!r} that an admin sets.")
    return row


def _out(row: Capability, stored: SecretRow | None, use: Use | None, *, origin: str) -> CapabilityOut:
    return CapabilityOut(
        name=row.name,
        title=row.title,
        purpose=row.purpose,
        obtain=row.obtain,
        fields=tuple(
            FieldOut(name=one.name, label=one.label, secret=one.secret, setting=one.setting.name) for one in row.fields
        ),
        probed=row.probe is not None,
        callbacks=tuple(origin + path for path in row.callbacks),
        configured=stored is not None,
        source=stored.source if stored else None,
        version=stored.version if stored else None,
        updated_at=rfc3339_or_none(stored.updated_at if stored else None),
        last_used_at=rfc3339_or_none(use.at if use else None),
        last_used_by=use.actor if use else None,
    )


def _audit_out(row: AuditRow) -> AuditRowOut:
    return AuditRowOut(
        at=rfc3339(row.at),
        name=row.name,
        actor=row.actor,
        purpose=row.purpose,
        run_id=row.run_id,
        outcome=row.outcome,
    )


_MAX_DIGITS: Final = 19

PROCEDURES: Final[tuple[Procedure[RequestContext], ...]] = (
    Procedure(
        name="capabilities.list",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[CapabilityOut],
        call=list_capabilities,
        summary="Every credential that is kept or can be, without its value.",
    ),
    Procedure(
        name="capabilities.set",
        kind="mutation",
        access="admin",
        input=SetInput,
        output=Nothing,
        call=set_capability,
        summary="Set or rotate a credential.",
    ),
    Procedure(
        name="capabilities.remove",
        kind="mutation",
        access="admin",
        input=NameInput,
        output=Nothing,
        call=remove_capability,
        summary="Forget a credential.",
    ),
    Procedure(
        name="capabilities.test",
        kind="mutation",
        access="admin",
        input=NameInput,
        output=TestOut,
        call=test_capability,
        summary="Ask the real service whether it takes the credential.",
    ),
    Procedure(
        name="capabilities.audit",
        kind="query",
        access="admin",
        input=AuditInput,
        output=AuditOut,
        call=audit,
        summary="Who acquired which credential, newest first, a page at a time.",
    ),
)
