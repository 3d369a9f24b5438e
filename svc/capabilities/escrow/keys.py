"""The master key of a hosted cell, with the same interface as any other place for a home's key.

The key is fetched before the home is touched, and a refusal leaves nothing behind. A first boot makes a key, has it
wrapped, and stores it if no other has: if two cells boot at once, one stores its own and the other takes that. A cell
that dies between the two steps has made nothing. A rotation has the same order as for any other place: the new key is
stored before the first secret is encrypted under it.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import trio

from svc.backoff import Backoff
from svc.capabilities.escrow import seen
from svc.capabilities.escrow.kms import PLAINTEXT_MAX_BYTES, Kms
from svc.capabilities.escrow.refusals import EscrowRefused, Later
from svc.capabilities.escrow.service import EscrowService, OtherCell, Problem, Record
from svc.capabilities.escrow.settings import CELL_ID, ESCROW_TOKEN, ESCROW_URL, KMS_KEY_ID, TENANT_ID
from svc.config import Config
from svc.protocol.egress import Egress
from svc.store import Keyring
from svc.store.keyring import KEY_BYTES, MasterKey

T = TypeVar("T")

TRIES: Final = 5
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 5.0
PURPOSE: Final = "master-key"
_TENANT, _CELL, _PURPOSE = "svc:tenant", "svc:cell", "svc:purpose"


class EscrowKeys:
    """Call :meth:`fetch` first, on the event loop. The methods of a key source block and need a thread without an event
    loop."""

    def __init__(self, config: Config, *, home: Path, rng: random.Random) -> None:
        self._config = config
        self._home = home
        self._rng = rng
        self._new_key = config[KMS_KEY_ID] or ""
        self._record: Record | None = None
        self._keyring: Keyring | None = None

    def load(self, *, may_create: bool) -> Keyring:
        if self._keyring is None:
            trio.run(self._fetched, may_create)
        assert self._keyring is not None
        return self._keyring

    def exists(self) -> bool:
        """Always true: it is unknown without a request, and a refusal says more."""
        return True

    def replace(self, keyring: Keyring) -> None:
        trio.run(self._replaced, keyring)

    def wrap_by(self, kms_key: str) -> None:
        """Use another key of the key-management service from the next :meth:`replace` on. Raises ``BadValue``."""
        self._new_key = KMS_KEY_ID.parse(kms_key) or ""

    def opened(self) -> None:
        """Note that the home was opened with this key: from now on no older one is accepted."""
        if self._record is not None:
            seen.note(self._home, self._record)

    async def fetch(self, *, may_create: bool) -> None:
        """Fetch the key, or make it where neither key nor home exists. Raises :class:`EscrowRefused`."""
        async with Egress() as egress:
            service, kms = EscrowService(self._config, egress), Kms(self._config, egress)
            last = seen.seen_by(self._home)
            found = await self._patiently(service.get)
            if isinstance(found, Problem):
                found = await self._first(service, kms, found, may_create=may_create and last is None)
            self._record, self._keyring = found, await self._opened(kms, found, last)

    async def adopt(self, keyring: Keyring) -> int:
        """Store a key from another place as the first version. Returns that version. Raises :class:`EscrowRefused`."""
        async with Egress() as egress:
            service, kms = EscrowService(self._config, egress), Kms(self._config, egress)
            found = await self._patiently(service.get)
            if isinstance(found, Record):
                raise EscrowRefused(
                    TENANT_ID.name, "the escrow service has a key of this tenant already", "nothing was changed"
                )
            record = await self._stored(service, kms, keyring, cell=self._cell_by(found), after=0)
            if record is None:
                raise EscrowRefused(
                    TENANT_ID.name, "another cell has stored a key of this tenant just now", "nothing was changed"
                )
        self._record, self._keyring = record, keyring
        return record.version

    async def _fetched(self, may_create: bool) -> None:
        await self.fetch(may_create=may_create)

    async def _replaced(self, keyring: Keyring) -> None:
        old = self._record
        assert old is not None, "a key is loaded before it is replaced"
        async with Egress() as egress:
            service, kms = EscrowService(self._config, egress), Kms(self._config, egress, key=self._new_key)
            record = await self._stored(service, kms, keyring, cell=old.context[_CELL], after=old.version)
            if record is None:
                raise EscrowRefused(
                    ESCROW_URL.name,
                    f"another process has replaced version {old.version} of the key meanwhile",
                    "nothing was changed here; run it again",
                )
        self._record, self._keyring = record, keyring
        seen.note(self._home, record)

    async def _first(self, service: EscrowService, kms: Kms, said: Problem, *, may_create: bool) -> Record:
        if not may_create or seen.is_home(self._home):
            raise EscrowRefused(
                TENANT_ID.name,
                f"the escrow service has no key of the tenant {self._config[TENANT_ID]!r} for this credential, and "
                f"{self._home} was not made with a new one",
                "check the tenant and the credential; restore the escrow service's database if the key is lost there. "
                "A home that was a local one takes its key along: svc secrets escrow",
            )
        record = await self._stored(service, kms, Keyring.random(), cell=self._cell_by(said), after=0)
        if record is not None:
            return record
        winner = await self._patiently(service.get)  # another cell was first: use its key
        if isinstance(winner, Problem):
            raise EscrowRefused(
                ESCROW_URL.name,
                "the escrow service says that there is a key, and then that there is none",
                "see its log",
            )
        return winner

    async def _stored(
        self, service: EscrowService, kms: Kms, keyring: Keyring, *, cell: str, after: int
    ) -> Record | None:
        """Wrap the keys and store them as the version after ``after``; ``None`` where another version was stored first.

        A credential can store only for its own cell: for a tenant that was moved to another cell, the key is wrapped
        for that cell from its next rotation on.
        """
        record = await self._wrapped(kms, keyring, cell=cell, version=after + 1)
        try:
            return record if await self._put(service, record, after=after) else None
        except OtherCell as other:
            self._check_cell(other.cell_id)
            record = await self._wrapped(kms, keyring, cell=other.cell_id, version=after + 1)
        try:
            return record if await self._put(service, record, after=after) else None
        except OtherCell:
            raise EscrowRefused(
                ESCROW_URL.name, "the escrow service does not stay with the cell that it named", "see its log"
            ) from None

    async def _put(self, service: EscrowService, record: Record, *, after: int) -> bool:
        """Whether the record is now stored as the version after ``after``. After a lost answer it is read again
        to see."""
        if await self._patiently(lambda: service.put(record, after=after)):
            return True
        there = await self._patiently(service.get)
        return isinstance(there, Record) and (there.version, there.wrapped_key) == (record.version, record.wrapped_key)

    def _check_cell(self, credential_of: str) -> None:
        pinned = self._config[CELL_ID]
        if pinned is not None and pinned != credential_of:
            raise EscrowRefused(
                CELL_ID.name,
                f"the credential is that of the cell {credential_of!r}, and not of {pinned!r}",
                "set the cell that SVC_KEY_ESCROW_TOKEN was made for, or unset it",
            )

    async def _wrapped(self, kms: Kms, keyring: Keyring, *, cell: str, version: int) -> Record:
        tenant = self._config[TENANT_ID]
        assert tenant is not None, "a rule asked for it"
        context = {_TENANT: tenant, _CELL: cell, _PURPOSE: PURPOSE}
        plaintext = _plaintext(keyring)
        wrapped = await self._patiently(lambda: kms.wrap(plaintext, context))
        return Record(tenant_id=tenant, version=version, wrapped_key=wrapped, kms_key_id=kms.key, context=context)

    async def _opened(self, kms: Kms, record: Record, last: seen.Seen | None) -> Keyring:
        self._check(record)
        seen.check(last, record, self._config)
        keyring = _keyring(await self._patiently(lambda: kms.unwrap(record.wrapped_key, record.context)))
        if keyring is None:
            raise EscrowRefused(ESCROW_URL.name, "what was wrapped there is no master key", "see who stored it")
        return keyring

    def _check(self, record: Record) -> None:
        """Check the record against what we know, so that a service that names another context can't make us use it."""
        config, context = self._config, record.context
        tenant, cell = config[TENANT_ID], config[CELL_ID]
        if record.tenant_id != tenant or context.get(_TENANT) != tenant:
            raise EscrowRefused(
                TENANT_ID.name, "the escrow service has given the key of another tenant", "check SVC_KEY_ESCROW_URL"
            )
        if cell is not None and context.get(_CELL) != cell:
            raise EscrowRefused(
                CELL_ID.name,
                f"the key was wrapped for the cell {context.get(_CELL)!r}",
                "set that one, or unset it to take any cell of the tenant",
            )
        if context.get(_PURPOSE) != PURPOSE or set(context) != {_TENANT, _CELL, _PURPOSE}:
            raise EscrowRefused(
                ESCROW_URL.name,
                "the encryption context of the key does not fit: it has another purpose, or more or less in it",
                "see who stored it",
            )
        if record.kms_key_id != config[KMS_KEY_ID]:
            raise EscrowRefused(
                KMS_KEY_ID.name,
                f"the key was wrapped by {record.kms_key_id}",
                "set that one; to move to another key, see docs/escrow.md",
            )
        if record.version < 1:
            raise EscrowRefused(ESCROW_URL.name, "the key has no version", "see who stored it")

    def _cell_by(self, said: Problem) -> str:
        """The cell's id: from its setting, else from the service's answer, else from the credential."""
        token = self._config[ESCROW_TOKEN]
        assert token is not None, "a rule asked for it"
        return self._config[CELL_ID] or said.cell_id or token.partition(".")[0]

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Retry after a pause where it may work later: many cells that restart together all ask at once."""
        pauses = Backoff(rng=self._rng, first_s=FIRST_PAUSE_S, cap_s=LONGEST_PAUSE_S)
        for left in reversed(range(TRIES)):
            try:
                return await ask()
            except Later as later:
                if not left:
                    raise later.refusal from None
                await trio.sleep(later.after_s + pauses.next_s())
        raise AssertionError("the last try returns or raises")


def _plaintext(keyring: Keyring) -> bytes:
    """One key as its bytes, several as the text of a key file."""
    if len(keyring.keys) == 1:
        return keyring.current.material
    text = keyring.as_text().encode()
    assert len(text) <= PLAINTEXT_MAX_BYTES, "sixteen keys are far less"
    return text


def _keyring(plaintext: bytes) -> Keyring | None:
    if len(plaintext) == KEY_BYTES:
        return Keyring((MasterKey.of(plaintext),))
    try:
        return Keyring.from_text(plaintext.decode("ascii"))
    except UnicodeDecodeError:
        return None
