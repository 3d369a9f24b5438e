"""*Import a mailbox*, as a run: it starts the import in the trusted plane, and checks its progress."""

from __future__ import annotations

from typing import Final

from svc.workflow import Json, Run, StepFailed, Workflow

LOOK: Final = "mail.import.look"
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
GROWTH: Final = 1.25
"""Growth of the pause between checks: an import of a minute is checked a dozen times, one of a day some hundred times,
because a run may have only so many steps."""


async def import_mailbox(run: Run, input: Json) -> Json:
    """The result, in numbers. Fails with the import's own words; a retry goes on at the point that the import
    reached."""
    asked = {"import": input["import"]}
    pause_s = FIRST_PAUSE_S
    while True:
        # One step: it is told how the import ended, or waits, and its wait ends with the import.
        told = await run.call(LOOK, {**asked, "pauseS": pause_s}, name="look how far it is")
        pause_s = min(pause_s * GROWTH, LONGEST_PAUSE_S)
        if told is not None and (result := await _result(run, asked, told)) is not None:
            return result


async def _look_then_wait(run: Run, input: Json) -> Json:
    """Version 1: if the import ended between the look and the wait, the run learned of it only at the next look."""
    asked = {"import": input["import"]}
    pause_s = FIRST_PAUSE_S
    while True:
        told = await run.call(LOOK, asked, name="look how far it is")
        if (result := await _result(run, asked, told)) is not None:
            return result
        await run.sleep("wait", pause_s)
        pause_s = min(pause_s * GROWTH, LONGEST_PAUSE_S)


async def _result(run: Run, asked: Json, told: Json) -> Json:
    """``None`` while the import goes on. Raises :class:`StepFailed` if it was stopped."""
    if told["state"] == "failed":
        # Refused now, and a refused call is not kept: a retry makes this call again, and is told that the import
        # goes on.
        told = await run.call(LOOK, {**asked, "after": told.get("lease", 0)}, name="go on where it stood")
    if told["state"] == "done":
        return {key: told[key] for key in ("added", "known", "skipped")}
    if told["state"] != "working":
        raise StepFailed(told["problem"] or "The import was stopped.")
    return None


IMPORT: Final = Workflow(
    name="mail.import",
    version=2,
    title="Import a mailbox",
    code=import_mailbox,
    older={1: _look_then_wait},
    calls=(LOOK,),
)
