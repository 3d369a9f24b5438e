"""A fleet: many cells boot against two replicas of the escrow service, each with a tenant of its own.

Forty in each run; ten thousand with ``make soak``. The key-management service is a stand-in that checks contexts, since
what is tried is the escrow service.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import trio

from tests.capabilities.escrow.cells import config_of, keys_of
from tests.capabilities.escrow.stubs import stub, wraps_for_each
from tests.control_plane.replicas import config_of as plane_config
from tests.control_plane.replicas import replicas, token
from tests.peers.needs import POSTGRES, needs
from tests.peers.postgres import postgres
from tests.recorded_log import RecordedLog
from tests.sizes import FLEET_CELLS

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(POSTGRES)]

AT_A_TIME: Final = 20


async def test_each_cell_of_a_fleet_has_a_key_of_its_own_and_gets_it_again(tmp_path: Path, log: RecordedLog) -> None:
    with postgres() as server:
        plane = plane_config(server.url)
        async with replicas(plane, plane, log=log) as both, stub(wraps_for_each, log=log) as service:
            rows = ", ".join(
                f"('c{n}', 'tenant-{n}', 'cell-{n}', sha256('{token(f'c{n}')}'))" for n in range(FLEET_CELLS)
            )
            server.run(
                f"insert into control_plane.credentials (credential_id, tenant_id, cell_id, token_digest) values {rows}"
            )
            found: dict[int, list[bytes]] = {number: [] for number in range(FLEET_CELLS)}
            slots = trio.CapacityLimiter(AT_A_TIME)

            async def boot(number: int, replica: int) -> None:
                async with slots:
                    home = tmp_path / str(number)
                    config = config_of(
                        home,
                        escrow=both[replica].url,
                        kms=service.url,
                        SVC_TENANT_ID=f"tenant-{number}",
                        SVC_KEY_ESCROW_TOKEN=token(f"c{number}"),
                    )
                    keys = keys_of(config, home)
                    await keys.fetch(may_create=True)
                    found[number].append(keys.load(may_create=False).current.material)

            for boots in range(2):  # the second time with an empty disk, at the other replica
                async with trio.open_nursery() as nursery:
                    for number in range(FLEET_CELLS):
                        nursery.start_soon(boot, number, (number + boots) % 2)
            assert all(first == second for first, second in found.values())
            assert len({first for first, _ in found.values()}) == FLEET_CELLS
            audited = server.run("select action, outcome, count(*) from control_plane.audit group by 1, 2")
            told = {(action, outcome): count for action, outcome, count in audited}
            assert told["key.put", "ok"] == FLEET_CELLS
            # A cell asks again if the answer does not come in time, and finds then that its key was stored.
            assert told["key.get", "missing"] >= FLEET_CELLS
            assert told["key.get", "ok"] >= FLEET_CELLS
            assert told.keys() <= {("key.put", "ok"), ("key.put", "late"), ("key.get", "missing"), ("key.get", "ok")}
