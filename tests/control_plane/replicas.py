"""The escrow service in this process, as many replicas of it as a test wants, and a cell that calls them."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import trio

from svc.clock import WallClock
from svc.config import Config, read_config
from svc.control_plane.plane import Plane
from svc.control_plane.serving import serve
from svc.control_plane.settings import RULES, SETTINGS
from svc.log import Log
from svc.nursery import Root
from svc.protocol.egress import Egress, EgressResponse

KMS_KEY: Final = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"


def token(credential: str, *, generation: int = 1) -> str:
    return f"{credential}.{f'secret-{generation}-of-{credential}-':x<40}"


def entry(credential: str, *, tenant: str = "", cell: str = "", generation: int = 1) -> dict[str, str]:
    """One entry of the variable: a credential ``a`` is that of the tenant ``tenant-a`` and of its cell ``cell-a``."""
    return {
        "credentialId": credential,
        "tenantId": tenant or f"tenant-{credential}",
        "cellId": cell or f"cell-{credential}",
        "token": token(credential, generation=generation),
    }


def config_of(url: str, entries: Sequence[dict[str, str]] = (), **more: str) -> Config:
    environ = {
        "SVC_SERVICE": "key-escrow-control-plane",
        "SVC_KEY_ESCROW_DATABASE_URL": url,
        "SVC_KEY_ESCROW_HOST": "127.0.0.1",
        "SVC_KEY_ESCROW_PORT": "0",
        "SVC_KEY_ESCROW_CELL_TOKENS": json.dumps(list(entries)),
        **more,
    }
    return read_config(SETTINGS, environ, RULES)


def new_key(credential: str, *, version: int = 1, wrapped: str = "d3JhcHBlZA==") -> dict[str, Any]:
    context = {"svc:tenant": f"tenant-{credential}", "svc:cell": f"cell-{credential}", "svc:purpose": "master-key"}
    return {"wrappedKey": wrapped, "kmsKeyId": KMS_KEY, "context": context, "version": version}


@dataclass
class Replica:
    """``ended`` is set once its pool is closed."""

    port: int
    root: Root
    egress: Egress
    plane: Plane | None = None
    ended: trio.Event = field(default_factory=trio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def call(
        self, method: str, path: str, *, as_: str = "", body: object = None, headers: dict[str, str] | None = None
    ) -> EgressResponse:
        """``as_``: the token that is sent."""
        fields = dict(headers or {})
        if as_:
            fields["authorization"] = f"Bearer {as_}"
        if body is not None:
            fields["content-type"] = "application/json"
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return await self.egress.request(
            method, f"{self.url}{path}", headers=fields, body=data, deadline_s=60.0, limit_bytes=1_000_000
        )

    async def put(self, credential: str, key: dict[str, Any], *, after: int = 0) -> EgressResponse:
        condition = {"if-match": f'"{after}"'} if after else {"if-none-match": "*"}
        path = f"/v1/keys/tenant-{credential}"
        return await self.call("PUT", path, as_=token(credential), body=key, headers=condition)

    async def get(self, credential: str) -> EgressResponse:
        return await self.call("GET", f"/v1/keys/tenant-{credential}", as_=token(credential))


@asynccontextmanager
async def replicas(*configs: Config, log: Log) -> AsyncIterator[list[Replica]]:
    """All of them start at once; yields when each serves. They have ended when the block is left, without a pause for a
    balancer: one that the test itself drains has it."""
    started: list[Replica] = []
    async with trio.open_nursery() as nursery:
        async with Egress() as egress:

            async def run(config: Config, task_status: trio.TaskStatus[Replica]) -> None:
                root = Root(log=log, rng=random.Random(1))
                replica = Replica(port=0, root=root, egress=egress)

                def announce(port: int, plane: Plane) -> None:
                    replica.port, replica.plane = port, plane
                    task_status.started(replica)

                await serve(config, clock=WallClock(), log=log, root=root, signals=False, announce=announce)
                replica.ended.set()

            async def start(config: Config) -> None:
                started.append(await nursery.start(partial(_started, run, config)))

            async with trio.open_nursery() as starting:
                for config in configs:
                    starting.start_soon(start, config)
            yield started
        for replica in started:
            if replica.plane is not None:
                replica.plane.linger_s = 0.0
            if not replica.ended.is_set() and not replica.root.draining:
                replica.root.drain("the test is over")


async def _started(run: Any, config: Config, task_status: trio.TaskStatus[Replica]) -> None:
    await run(config, task_status)


def told(answer: EgressResponse) -> Any:
    return json.loads(answer.body)
