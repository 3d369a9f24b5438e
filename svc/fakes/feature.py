"""The rows that the fakes add to the feature tables. ``app.features_of`` leaves them out unless ``PROVIDERS=fake``."""

from __future__ import annotations

from functools import partial
from typing import Final

from svc.broker import Vendors
from svc.fakes.authority import AUTHORITY
from svc.fakes.llm import procedures as llm_procedures
from svc.fakes.llm.vendor import answer
from svc.fakes.llm.world import FakeModels
from svc.fakes.mail import procedures as mail_procedures
from svc.fakes.mail.provider import FakeWorld
from svc.fakes.mail.records import FakeRecords
from svc.fakes.speech import FakeSpeech
from svc.feature import Feature, Seed
from svc.identity import Identity
from svc.mail import Providers, SigningKeys, account_by_address, connect_account
from svc.meetings import Recognisers
from svc.models import Models
from svc.principal import system
from svc.workspace import Workspace

MAIL_JOURNAL: Final = "fake.jsonl"
LLM_JOURNAL: Final = "fake-llm.jsonl"


def _build(workspace: Workspace) -> None:
    journal = workspace.home.spool / MAIL_JOURNAL
    world = FakeWorld(journal=journal, clock=workspace.clock, threads=workspace.threads)
    workspace.provide(world)
    workspace.service(Providers).replace_all(
        "fake", lambda account: world.provider(account.address), authority=AUTHORITY
    )
    workspace.service(SigningKeys).records = FakeRecords()
    workspace.service(Identity).dev_login = True
    models = FakeModels(journal=workspace.home.spool / LLM_JOURNAL, threads=workspace.threads)
    workspace.provide(models)
    workspace.service(Vendors).replace_all(partial(answer, models))
    workspace.service(Models).want_keys = False
    workspace.service(Recognisers).replace_all(FakeSpeech())


async def _boot(workspace: Workspace) -> None:
    """Rebuild the fake mailboxes, and connect those that are not connected."""
    workspace.service(FakeWorld).load()
    workspace.service(FakeModels).load()
    _connect(workspace)


async def _plant(workspace: Workspace) -> None:
    await workspace.service(FakeWorld).seed()
    _connect(workspace)


def _connect(workspace: Workspace) -> None:
    store = workspace.store
    for address in workspace.service(FakeWorld).addresses:
        if store.read_now(account_by_address, address) is None:
            store.write_now(connect_account, system("mail-boot"), address=address, provider="fake")


FEATURE = Feature(
    name="fakes",
    summary="Deterministic stand-ins of outside systems, on under PROVIDERS=fake.",
    procedures=(*mail_procedures.PROCEDURES, *llm_procedures.PROCEDURES),
    build=_build,
    boot=_boot,
    seeds=(Seed(world="mock-world", plant=_plant),),
    replaces_outside=True,
)
