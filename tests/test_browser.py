"""Who starts the service by hand at a desktop sees it open in a browser; nobody else does."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import sys
from pathlib import Path
from subprocess import DEVNULL, Popen

import pytest

from svc.browser import opener_of
from tests.sizes import HANGS_S
from tests.support.process import ROOT, until

DESKTOP = {"DISPLAY": ":0"}


@pytest.fixture
def opener(tmp_path: Path) -> Path:
    """A desktop's opener that writes down what it is to open."""
    program = tmp_path / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked && mv {tmp_path}/asked {tmp_path}/opened\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("environ", "platform", "at_terminal", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, True),
        ({"DISPLAY": ""}, "linux", True, False),
        ({}, "linux", True, False),
        ({"DISPLAY": ":0"}, "linux", False, False),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "192.0.2.1 5 192.0.2.2 22"}, "linux", True, False),
        ({"DISPLAY": ":0"}, "sunos5", True, False),
    ],
)
def test_only_for_who_sits_at_a_terminal_of_a_desktop(
    opener: Path, environ: dict[str, str], platform: str, at_terminal: bool, opens: bool
) -> None:
    path = {"PATH": str(opener.parent)}
    found = opener_of(environ | path, platform=platform, at_terminal=at_terminal)
    assert found == (str(opener) if opens else None)


def test_a_mac_opens_without_a_display_variable(tmp_path: Path) -> None:
    program = tmp_path / "open"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert opener_of({"PATH": str(tmp_path)}, platform="darwin", at_terminal=True) == str(program)


def test_a_desktop_without_an_opener_is_left_alone(tmp_path: Path) -> None:
    assert opener_of(DESKTOP | {"PATH": str(tmp_path)}, platform="linux", at_terminal=True) is None


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it needs Linux: the stand-in has its opener's name")
@pytest.mark.parametrize("arguments", [[], ["serve"], ["--no-open"], ["serve", "--no-open"]])
def test_a_start_at_a_terminal_opens_the_address_that_it_prints(
    tmp_path: Path, opener: Path, arguments: list[str]
) -> None:
    ours, theirs = pty.openpty()
    path = f"{opener.parent}:{Path(shutil.which('sh') or '/bin/sh').parent}"
    environ = DESKTOP | {"PATH": path, "HOME": str(tmp_path), "PROVIDERS": "fake", "SVC_PORT": "0"}
    command = [sys.executable, "-m", "svc", *arguments]
    with Popen(command, cwd=ROOT, env=environ, stdin=DEVNULL, stdout=theirs, stderr=DEVNULL) as started:
        os.close(theirs)
        try:
            with os.fdopen(ours, "rb") as terminal:
                address = terminal.readline().split()[1].decode()
                if "--no-open" not in arguments:
                    until((tmp_path / "opened").exists, what="the address to be opened", deadline_s=HANGS_S)
                started.send_signal(signal.SIGTERM)
                assert started.wait(HANGS_S) == 0
        finally:
            started.kill()
    if "--no-open" in arguments:
        assert not (tmp_path / "opened").exists()
    else:
        assert (tmp_path / "opened").read_text().strip() == address
