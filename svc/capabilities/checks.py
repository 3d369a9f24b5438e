"""Checks whether the credentials can be used: the master key exists and is the right one, and the services accept the
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.capabilities.broker import Broker
from svc.capabilities.keys import key_source
from svc.capability import Capability
from svc.check import Check, CheckContext, Finding, failed, ok, refused, skipped
from svc.store import (
    CannotOpen,
    Home,
    KeyRefused,
    Keyring,
    MasterKeySource,
    ReadTx,
    Secrets,
    SecretUnreadable,
    has_secrets,
)
from svc.workspace import Workspace

NAMED: Final = 3


async def _key(context: CheckContext) -> Sequence[Finding]:
    """Check the stored key now: a running service has it in memory, and would not start again without it."""
    try:
        home_id = await context.threads.run(Home.id_of, context.home)
    except CannotOpen:
        return [skipped("There is no home yet, and so no key")]
    keys = key_source(context.config, home_id=home_id, home=context.home, environ=context.config.environ)
    kept = context.store is not None and await context.store.read(has_secrets)
    try:
        keyring = await context.threads.run(lambda: keys.load(may_create=False))
    except KeyRefused as fault:
        if not kept and not _is_there(keys):
            return [skipped("There is no key yet, and nothing is encrypted")]
        return [refused(fault)]
    return [await _opens(context, keyring)]


def _is_there(keys: MasterKeySource) -> bool:
    try:
        return keys.exists()
    except KeyRefused:
        return True  # perhaps, so the refusal is shown


async def _opens(context: CheckContext, keyring: Keyring) -> Finding:
    if context.store is None:
        return skipped("The key is there and private; the database is not open, so what it opens is not known")
    names, closed = await context.store.read(_unreadable, Secrets(keyring))
    if not closed:
        return ok(f"The key is there and private, and opens all {names} secrets")
    shown = ", ".join(closed[:NAMED]) + (", …" if len(closed) > NAMED else "")
    if len(closed) == names:
        return failed(
            f"The master key is not the one of this home: it opens none of its {names} secrets ({shown})",
            "Put back the key that this home was made with. If it is lost, set the credentials anew under Settings > "
            "Credentials and connect the accounts again",
        )
    return failed(
        f"{len(closed)} of {names} secrets can't be decrypted: {shown}",
        "Set them anew under Settings > Credentials, or connect these accounts again; svc fsck says why",
    )


def _unreadable(tx: ReadTx, secrets: Secrets) -> tuple[int, list[str]]:
    """How many secrets there are, and the names of those that the keys can't decrypt."""
    names = secrets.names(tx)
    closed = []
    for name in names:
        try:
            secrets.read(tx, name)
        except SecretUnreadable:
            closed.append(name)
    return len(names), closed


async def _credentials(context: CheckContext) -> Sequence[Finding]:
    """Run the test of the Test button for all credentials that are set."""
    if context.workspace is None:
        return [skipped("A credential is used by a running service only, which writes down each use", _START)]
    if not context.asks_outside:
        return [skipped("Fakes stand in for the services outside")]
    broker = context.workspace.service(Broker)
    rows = [row for row in broker.capabilities.values() if row.probe is not None]
    found = [one for row in rows if (one := await _asked(context.workspace, broker, row)) is not None]
    return found or [skipped("No credential is set that a service could be asked about")]


async def _asked(workspace: Workspace, broker: Broker, row: Capability) -> Finding | None:
    """The result of one test; ``None`` where the credential is not set."""
    if row.probe is None or not await broker.store.read(broker.secrets.has, row.name):
        return None
    again = f"Set it anew under Settings > Credentials. Where to get it: {row.obtain}"
    try:
        stored = await broker.door_for_tests().acquire(row.name, purpose="health check")
    except SecretUnreadable:
        return failed(f"{row.title}: it can't be decrypted", again)
    if stored is None:
        return None
    result = await row.probe(workspace, row.decode(stored))
    if result.ok:
        return ok(f"{row.title}: {result.message}")
    return failed(f"{row.title}: {result.message}", result.remedy or again)


_START: Final = "Start the service, then ask again"

CHECKS: Final = (
    Check(name="keys", summary="The master key is there, private, and the right one.", run=_key),
    Check(name="credentials", summary="The services take the credentials that are set.", run=_credentials),
)
