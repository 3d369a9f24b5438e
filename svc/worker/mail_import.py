"""*Import a mailbox*, as a run: it begins the import in the trusted plane, and looks how far it is."""

from __future__ import annotations

from typing import Final

from svc.workflow import Json, Run, StepFailed, Workflow

LOOK: Final = "mail.import.look"
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
GROWTH: Final = 1.25
"""An import of a minute is looked at a dozen times, one of a day some hundred times: a run has so many steps only."""


async def import_mailbox(run: Run, input: Json) -> Json:
    """What came of it, in numbers. Fails with the import's own words; retried, it goes on where the import stood."""
    asked = {"import": input["import"]}
    pause_s = FIRST_PAUSE_S
    while True:
        told = await run.call(LOOK, asked, name="look how far it is")
        if told["state"] == "failed":
            # Refused now, and that is no step that is kept: a retry asks it anew, and is told that it goes on.
            told = await run.call(LOOK, {**asked, "after": told.get("lease", 0)}, name="go on where it stood")
        if told["state"] == "done":
            return {key: told[key] for key in ("added", "known", "skipped")}
        if told["state"] != "working":
            raise StepFailed(told["problem"] or "The import was stopped.")
        await run.sleep("wait", pause_s)
        pause_s = min(pause_s * GROWTH, LONGEST_PAUSE_S)


IMPORT: Final = Workflow(name="mail.import", version=1, title="Import a mailbox", code=import_mailbox, calls=(LOOK,))
