"""The service as a process: it comes up, goes down, survives being killed, and says what is wrong when it can't."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import ServiceProcess

pytestmark = pytest.mark.journey


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        yield process


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_answers_once_it_is_ready_and_drains_on_a_signal(service: ServiceProcess, by: signal.Signals) -> None:
    service.start(PROVIDERS="fake")
    assert service.query("health.ping")["ok"] is True
    assert service.request("GET", "/livez").json() == {"status": "ok"}
    assert service.stop(by) == 0
    assert service.events("drain.ended")


def test_killed_at_once_it_comes_up_again_on_the_same_home(service: ServiceProcess) -> None:
    service.start(PROVIDERS="fake")
    service.kill()
    service.start(PROVIDERS="fake")
    assert service.command("fsck").stdout == "ok\n"


def test_a_second_process_on_its_home_or_port_is_refused_and_does_no_harm(
    service: ServiceProcess, tmp_path: Path
) -> None:
    service.start(PROVIDERS="fake")
    (tmp_path / "other").mkdir()
    same_home = ServiceProcess(service.directory)
    same_port = ServiceProcess(tmp_path / "other", port=service.port)
    same_home.spawn(PROVIDERS="fake")
    same_port.spawn(PROVIDERS="fake")

    assert same_home.wait() == 75
    assert str(service.pid) in service.log()
    assert same_port.wait() == 78
    assert "SVC_PORT" in same_port.log()
    assert not same_port.home.exists()
    assert service.is_ready()


def test_every_fault_of_the_settings_is_told_together(service: ServiceProcess) -> None:
    service.spawn(SVC_HOST="0.0.0.0", SVC_SEED="mock-world", IDP_CLIENT_ID="only-half")
    assert service.wait() == 78
    for name in ("SVC_HOST", "SVC_SEED", "IDP_CLIENT_SECRET"):
        assert name in service.log()
