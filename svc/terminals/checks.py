"""Checks that the shell of terminals exists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.switches import TERMINALS, is_on
from svc.terminals.settings import SHELL


async def _check(context: CheckContext) -> Sequence[Finding]:
    if not is_on(context.config, TERMINALS):
        return [skipped("This server has no terminals: it is a public one")]
    shell = context.config[SHELL]
    if await context.threads.run(_can_be_run, shell):
        return [ok(f"Terminals start {shell}")]
    return [warning(f"Terminals can't start {shell}", f"Name a shell that is there with {SHELL.name}")]


def _can_be_run(shell: Path) -> bool:
    return shell.is_file() and os.access(shell, os.X_OK)


CHECKS: Final = (Check(name="terminals", summary="The shell of terminals is there.", run=_check),)
