"""Whether pages and files say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.okf import rows
from svc.switches import OKF_WATCHER, is_on

NAMED: Final = 3


async def _in_step(context: CheckContext) -> Sequence[Finding]:
    if not is_on(context.config, OKF_WATCHER):
        return [skipped("Pages are not written as files under this profile")]
    if context.store is None:
        return [skipped("The database is not open")]
    troubles = await context.store.read(rows.troubles, limit=NAMED)
    unwritten = await context.store.read(rows.unwritten)
    found = [
        warning(
            f"okf/{one.file}: {one.reason}"
            + (f" What was written there is in okf/{one.kept}" if one.kept is not None else ""),
            "Put both together in the page, then delete that copy" if one.kept is not None else "Correct the file",
        )
        for one in troubles
    ]
    found += [
        warning(f"The page {path} is no file: {problem}", "Move it to another path") for path, problem in unwritten[:3]
    ]
    return found or [ok(f"{await context.store.read(rows.count)} pages are also files below okf/")]


CHECKS: Final = (Check(name="okf", summary="Pages and the files below okf/ say the same.", run=_in_step),)
