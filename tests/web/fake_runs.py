"""The stand-in server's runs and approvals, as the service shows them. Nothing runs: tests move them from outside."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.web.refusal import Refusal

PAGE_ROWS = 50
_RUN = (
    *("id", "workflow", "title", "state", "owner", "mine", "createdAt", "startedAt", "endedAt", "dueAt"),
    *("parentId", "progress"),
)


def moment(**ahead: float) -> str:
    """So long from now; negative: before."""
    at = datetime.now(UTC) + timedelta(**ahead)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def step(step_id: str, **fields: Any) -> dict[str, Any]:
    """One that is done, unless ``fields`` say otherwise."""
    parent, _, name = step_id.rpartition("/")
    return {
        "id": step_id,
        "parentId": parent or None,
        "name": name,
        "kind": "step",
        "state": "done",
        "attempts": 1,
        "startedAt": moment(hours=-5),
        "endedAt": moment(hours=-4),
        "dueAt": None,
        "input": None,
        "output": None,
        "inputBytes": None,
        "outputBytes": None,
        "error": None,
        "childId": None,
        "changed": False,
        "card": None,
        **fields,
    }


@dataclass
class RunPart:
    """A part of ``FakeAnswers``."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    """In the order in which they were begun."""
    approvals: list[dict[str, Any]] = field(default_factory=list)
    talks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What was said in an agent's run."""
    whole_steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    """All of the values that are cut in the run, by the id of their step."""
    run_numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add_run(self, title: str, *, state: str = "running", **fields: Any) -> str:
        number = next(self.run_numbers)
        run = {
            "id": f"run_{number:04}",
            "workflow": "mail.import",
            "title": title,
            "state": state,
            "owner": "usr_mia",
            "mine": True,
            "createdAt": moment(hours=-10),
            "startedAt": None if state == "queued" else moment(hours=-9),
            "endedAt": moment(hours=-3) if state in {"done", "failed", "cancelled"} else None,
            "dueAt": None,
            "parentId": None,
            "progress": None,
            "error": None,
            "usage": {"inputTokens": None, "outputTokens": None},
            "input": None,
            "output": None,
            "steps": [],
            **fields,
        }
        self.runs.append(run)
        self.tell_run(run)
        return str(run["id"])

    def run(self, run_id: str) -> dict[str, Any]:
        for run in self.runs:
            if run["id"] == run_id:
                return run
        raise Refusal("NOT_FOUND", 404, "There is no such run.")

    def change_run(self, run_id: str, **patch: Any) -> None:
        """The server got on with it."""
        run = self.run(run_id)
        run.update(patch)
        self.tell_run(run)

    def tell_run(self, run: dict[str, Any]) -> None:
        payload = {name: run[name] for name in ("state", "workflow", "parentId")}
        self.emit("runs", "run.changed", run["id"], payload)  # type: ignore[attr-defined]  # who looks here is an admin

    def ask(self, run_id: str, step_id: str, **fields: Any) -> str:
        """A step of the run waits for a person."""
        approval = {
            "id": f"apr_{next(self.run_numbers):04}",
            "runId": run_id,
            "stepId": step_id,
            "tool": "mail.send",
            "summary": "Send a mail to Jonas",
            "input": {"to": ["jonas@sea.example"], "subject": "Harbour"},
            "requestedAt": moment(hours=-3),
            "expiresAt": moment(hours=5, minutes=2),
            "card": None,
            **fields,
        }
        self.approvals.append(approval)
        waits = {"kind": "approval", "state": "waiting", "endedAt": None, "dueAt": approval["expiresAt"]}
        self.run(run_id)["steps"].append(step(step_id, **waits))
        self.change_run(run_id, state="waiting", dueAt=approval["expiresAt"])
        self.emit("tasks", "approval.requested", approval["id"], {})  # type: ignore[attr-defined]
        return str(approval["id"])

    def settle(self, approval_id: str, output: Any, error: dict[str, Any] | None = None) -> None:
        """It is decided, here or in another window."""
        approval = next(one for one in self.approvals if one["id"] == approval_id)
        self.approvals.remove(approval)
        run = self.run(approval["runId"])
        waiting = next(one for one in run["steps"] if one["id"] == approval["stepId"])
        state = "failed" if error else "done"
        waiting.update(state=state, output=output, error=error, dueAt=None, endedAt=moment())
        self.emit("tasks", "approval.decided", approval_id, {})  # type: ignore[attr-defined]
        self.change_run(run["id"], state="queued", dueAt=None)

    def rpc_runs_list(self, given: dict[str, Any]) -> Any:
        state, workflow, cursor = given.get("state"), given.get("workflow"), given.get("cursor")
        rows = [
            run
            for run in self.runs
            if (state is None or run["state"] == state)
            and (run["parentId"] is None if workflow is None else run["workflow"] == workflow)
        ]
        rows.sort(key=_key, reverse=True)
        rows = [run for run in rows if cursor is None or _key(run) < tuple(cursor.split(" "))]
        page = rows[:PAGE_ROWS]
        more = " ".join(_key(page[-1])) if len(rows) > PAGE_ROWS else None
        return {"runs": [_shown(run) for run in page], "nextCursor": more}

    def rpc_runs_get(self, given: dict[str, Any]) -> Any:
        run = self.run(given["id"])
        if not run["mine"]:
            raise Refusal("NOT_FOUND", 404, "There is no such run.")
        ancestors: list[dict[str, Any]] = []
        above = run["parentId"]
        while above is not None:
            ancestors.insert(0, {"id": above, "title": self.run(above)["title"]})
            above = self.run(above)["parentId"]
        children = [_shown(one) for one in self.runs if one["parentId"] == run["id"]]
        return {**run, "ancestors": ancestors, "children": children}

    def rpc_runs_step(self, given: dict[str, Any]) -> Any:
        found = next((one for one in self.run(given["id"])["steps"] if one["id"] == given["stepId"]), None)
        if found is None:
            raise Refusal("NOT_FOUND", 404, "There is no such step.")
        return {**found, **self.whole_steps.get(given["stepId"], {}), "inputBytes": None, "outputBytes": None}

    def rpc_runs_cancel(self, given: dict[str, Any]) -> Any:
        run = self.run(given["id"])
        if run["state"] in {"done", "failed", "cancelled"}:
            raise Refusal("CONFLICT", 409, f"This run is {run['state']}.")
        stopped = {"type": "Cancelled", "message": "It was stopped."}
        self.approvals = [one for one in self.approvals if one["runId"] != run["id"]]
        self.change_run(run["id"], state="cancelled", endedAt=moment(), dueAt=None, error=stopped)
        return {}

    def rpc_runs_retryfailed(self, given: dict[str, Any]) -> Any:
        workflow = given.get("workflow")
        failed = [
            run["id"]
            for run in self.runs
            if run["mine"] and run["state"] == "failed" and run["parentId"] is None
            if workflow is None or run["workflow"] == workflow
        ]
        for run_id in failed:
            self.rpc_runs_retry({"id": run_id})
        return {"retried": len(failed), "more": False}

    def rpc_runs_retry(self, given: dict[str, Any]) -> Any:
        run = self.run(given["id"])
        if run["state"] not in {"failed", "cancelled"}:
            raise Refusal("CONFLICT", 409, f"This run is {run['state']}.")
        steps = [one for one in run["steps"] if one["state"] == "done"]
        self.change_run(run["id"], state="queued", endedAt=None, error=None, steps=steps)
        return {}

    def rpc_agents_trust(self, given: dict[str, Any]) -> Any:
        return {"outside": None}

    def rpc_agents_talk(self, given: dict[str, Any]) -> Any:
        return self.talks.get(given["runId"], [])

    def rpc_agents_retry(self, given: dict[str, Any]) -> Any:
        run = self.run(given["runId"])
        return {"runId": self.add_run(run["title"], state="queued", workflow=run["workflow"])}

    def rpc_agents_say(self, given: dict[str, Any]) -> Any:
        return {"runId": given["runId"]}

    def rpc_approvals_list(self, given: dict[str, Any]) -> Any:
        return self.approvals

    def rpc_approvals_decide(self, given: dict[str, Any]) -> Any:
        approval = next((one for one in self.approvals if one["id"] == given["id"]), None)
        if approval is None:
            raise Refusal("CONFLICT", 409, "This request is approved already.")
        declined = {"type": "Declined", "message": "A person has declined it."}
        if given["approve"]:
            self.settle(given["id"], given.get("input", approval["input"]))
        else:
            self.settle(given["id"], None, declined)
        return {}


def _shown(run: dict[str, Any]) -> dict[str, Any]:
    return {name: run[name] for name in _RUN}


def _key(run: dict[str, Any]) -> tuple[str, str]:
    return run["createdAt"], run["id"]
