"""Whether the shell of terminals is there, as the doctor asks it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from svc.app import all_rules, all_settings
from svc.check import CheckContext
from svc.config import read_config
from svc.nursery import ThreadPool
from svc.terminals.checks import CHECKS

CELL = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "PROVIDERS": "fake"}


@pytest.mark.parametrize(
    ("environ", "state"),
    [
        ({"SVC_SHELL": "/bin/sh"}, "ok"),
        ({"SVC_SHELL": "/none"}, "warning"),
        ({"SHELL": "/etc/passwd"}, "warning"),
        (CELL, "skipped"),
    ],
)
async def test_a_shell_that_is_not_there_is_told(threads: ThreadPool, environ: dict[str, str], state: str) -> None:
    config = read_config(all_settings(), {"HOME": "/home/mia", **environ}, all_rules())
    context = cast(CheckContext, SimpleNamespace(config=config, threads=threads))
    (finding,) = await CHECKS[0].run(context)
    assert finding.state == state
    assert (finding.remedy != "") == (state == "warning")
