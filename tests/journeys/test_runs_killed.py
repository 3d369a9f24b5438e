"""A run of 20 steps, its processes killed at every place of every step: each effect happens once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.journeys.run_program import MOMENTS, PLACES, STEPS
from tests.sizes import HANGS_S, RUN_STRIDE
from tests.support.process import ServiceProcess, free_port, until

pytestmark = pytest.mark.journey
PROGRAM = ("-m", "tests.journeys.run_program", "serve")
TOKEN = "t" * 43
DEATH = -9


def workplace(service: ServiceProcess) -> Path:
    """Where the steps leave what they did: the only folder that a worker may write."""
    path = service.home / "worker"
    path.mkdir(parents=True, exist_ok=True)
    return path


def begin(service: ServiceProcess) -> None:
    with suppress(OSError, HTTPException):  # the death may come before the answer
        service.mutate("test.begin")


def check(service: ServiceProcess) -> None:
    """Each call was decided once. What a step does outside is done again only by the step that was cut off in it."""
    ((run_id,),) = service.rows("select id from runs")
    until(
        lambda: service.query("runs.get", id=run_id)["state"] in {"done", "failed", "cancelled"},
        what="the run to end",
        deadline_s=HANGS_S,
        tell=service.log,
    )
    found = service.query("runs.get", id=run_id)
    assert (found["state"], found["output"]) == ("done", STEPS), found["error"]
    noted = service.rows("select payload from events where type = 'test.noted' order by seq")
    assert [json.loads(payload)["number"] for (payload,) in noted] == list(range(STEPS))
    effects = Counter((workplace(service) / "effects").read_text().split("\n")[:-1])
    assert set(effects) == {f"step {number}" for number in range(STEPS)}
    assert sum(effects.values()) <= STEPS + 1
    assert (workplace(service) / "died").exists()
    assert service.command("fsck").stdout == "ok\n"


@pytest.mark.parametrize("place", range(0, PLACES, RUN_STRIDE))
def test_one_process_for_both_planes_killed_at(place: int, tmp_path: Path) -> None:
    settings = {"PROVIDERS": "fake"}
    with ServiceProcess(tmp_path, program=PROGRAM) as service:
        (workplace(service) / "place").write_text(str(place))
        service.start(**settings)
        begin(service)
        assert service.wait() == DEATH
        service.start(**settings)
        check(service)
        assert service.stop() == 0


@pytest.mark.share(2)
@pytest.mark.parametrize("place", range(min(1, RUN_STRIDE - 1), PLACES, RUN_STRIDE))
def test_two_processes_and_one_of_them_killed_at(place: int, tmp_path: Path) -> None:
    """Whoever comes to the place dies: the worker in its own steps, the trusted plane in its calls."""
    web = ServiceProcess(tmp_path, program=(*PROGRAM, "--role=web"))
    worker = ServiceProcess(tmp_path / "apart", program=(*PROGRAM, "--role=worker"), warm=False)
    worker.directory.mkdir()
    (workplace(web) / "place").write_text(str(place))
    shared = {"PROVIDERS": "fake", "SVC_INTERNAL_TOKEN": TOKEN, "SVC_HOME": str(web.home)}
    port = free_port()
    of_web = {**shared, "SVC_INTERNAL_PORT": str(port)}
    of_worker = {**shared, "SVC_BROKER_URL": f":{port}", "SVC_WORKER_URL": f":{free_port()}"}
    with web, worker:
        web.start(**of_web)
        worker.spawn(**of_worker)
        begin(web)
        dying, settings = (worker, of_worker) if MOMENTS[place % len(MOMENTS)] in {"before", "after"} else (web, of_web)
        assert dying.wait() == DEATH, worker.log()
        dying.spawn(**settings)
        until(web.is_ready, what="the trusted plane to be ready", deadline_s=HANGS_S, tell=web.log)
        check(web)
        assert worker.stop() == 0
        assert web.stop() == 0
        assert not worker.home.exists()


def test_two_workers_serve_one_trusted_plane_and_one_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    web = ServiceProcess(tmp_path, program=(*PROGRAM, "--role=web"))
    shared = {"PROVIDERS": "fake", "SVC_INTERNAL_TOKEN": TOKEN, "SVC_HOME": str(web.home)}
    port = free_port()
    workers = [
        ServiceProcess(tmp_path / name, program=(*PROGRAM, "--role=worker"), warm=False) for name in ("one", "two")
    ]
    workplace(web)
    with web, workers[0], workers[1]:
        web.start(**shared, SVC_INTERNAL_PORT=str(port))
        for worker in workers:
            worker.directory.mkdir()
            worker.spawn(**shared, SVC_BROKER_URL=f":{port}", SVC_WORKER_URL=f":{free_port()}")
        _wait(lambda: len(web.events("runs.worker_met")) == len(workers), "both workers to be met", web)
        for _ in range(4):
            web.mutate("test.begin")
        _wait(lambda: web.rows("select count(*) from runs where state = 'done'") == [(4,)], "four runs to end", web)
        assert web.rows("select count(distinct worker) from runs") == [(2,)]
        workers[0].kill()
        web.mutate("test.begin")
        web.mutate("test.begin")
        _wait(lambda: web.rows("select count(*) from runs where state = 'done'") == [(6,)], "six runs to end", web)
        assert workers[1].stop() == 0
        assert web.stop() == 0


def _wait(holds: Callable[[], bool], what: str, service: ServiceProcess) -> None:
    until(holds, what=what, deadline_s=HANGS_S, tell=service.log)


def test_a_worker_that_the_trusted_plane_starts_is_started_again_when_it_dies(tmp_path: Path) -> None:
    settings = {"PROVIDERS": "fake", "SVC_WORKER_PROCESS": "1", "LLM_A_KEY": "canary"}
    with ServiceProcess(tmp_path, program=PROGRAM) as service:
        (workplace(service) / "place").write_text("4")
        service.start(**settings)
        _wait(lambda: bool(service.events("worker.started")), "the worker to be started", service)
        first = service.events("worker.started")[0]["pid"]
        environ = Path(f"/proc/{first}/environ").read_text()
        assert "canary" not in environ
        assert (service.home / "run" / "internal.token").read_text() not in environ
        begin(service)
        check(service)
        assert len(service.events("worker.started")) == 2
        assert service.stop() == 0
    assert "canary" not in service.log()
