"""``svc doctor``: runs every check of every feature. It asks a running service, or else checks the home on disk.

It changes nothing, and never waits for a service that does not answer. The exit code is 0 if nothing failed.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

import msgspec
import trio

from svc.app import FEATURES, features_of
from svc.check import CheckContext, CheckState, Finding, failed
from svc.command import OK, Invocation
from svc.config import Config
from svc.health import CHECK_PATH, CheckOut, Report, check_out, checks_of, run_checks
from svc.nursery import ThreadPool
from svc.protocol.egress import Egress, EgressFault
from svc.settings import HOME, INTERNAL_PORT, INTERNAL_TOKEN
from svc.store import INTERNAL_PORT_FILE, INTERNAL_TOKEN_FILE, Blobs, CannotOpen, Home, HomeBusy, Store

EXIT_FAILURE: Final = 1
ANSWER_S: Final = 60.0
ANSWER_MAX_BYTES: Final = 4 << 20
THREADS: Final = 4

_ORDER: Final[tuple[CheckState, ...]] = ("failed", "warning", "ok", "skipped")
_STATE_WIDTH: Final = 7


class _Unanswered(Exception):
    """The service that holds the home could not be asked: ``why; what to do``."""


def doctor_command(call: Invocation) -> int:
    running, checks = trio.run(partial(_examined, call))
    if call.given["json"]:
        verdict = {"ok": _is_well(checks), "running": running, "checks": checks}
        print(msgspec.json.encode(verdict).decode())
    else:
        _print(checks, running=running)
    return OK if _is_well(checks) else EXIT_FAILURE


async def _examined(call: Invocation) -> tuple[bool, list[CheckOut]]:
    """Whether a service answered, and its checks; else the checks that work without a service."""
    busy = Home.busy(call.config[HOME])
    async with Egress() as egress:
        if busy is None:
            return False, await _by_ourselves(call, egress)
        try:
            told = await _asked(call.config, egress, busy)
        except _Unanswered as fault:
            return False, await _by_ourselves(call, egress, unanswered=str(fault))
    return True, [*_faults_here(call), *told]


def _faults_here(call: Invocation) -> list[CheckOut]:
    """The faults in the environment of this command. The service was started with its own environment."""
    return [_fault_out(failed(f"{fault.name}, as set here: {fault.problem}", fault.remedy)) for fault in call.faults]


def _fault_out(finding: Finding) -> CheckOut:
    return CheckOut(
        name="settings",
        summary="Every variable is understood.",
        state=finding.state,
        detail=finding.detail,
        remedy=finding.remedy,
    )


async def _asked(config: Config, egress: Egress, busy: HomeBusy) -> list[CheckOut]:
    holder = "Another process" if busy.pid is None else f"Process {busy.pid}"
    stop = f"look into its log, or stop it (kill {busy.pid}) and start the service again"
    told = Home.told(config[HOME], INTERNAL_PORT_FILE) or ""
    port = int(told) if told.isdigit() else config[INTERNAL_PORT]
    try:
        answer = await egress.request(
            "POST",
            f"http://127.0.0.1:{port}{CHECK_PATH}",
            headers={"authorization": f"Bearer {_token(config)}"},
            body=b"",
            deadline_s=ANSWER_S,
            limit_bytes=ANSWER_MAX_BYTES,
        )
    except EgressFault as fault:
        raise _Unanswered(f"{holder} holds the home, and could not be asked ({fault.detail}); {stop}") from fault
    if answer.status == 401:
        raise _Unanswered(
            f"{holder} holds the home, and has another internal token; set {INTERNAL_TOKEN.name} here as it has it"
        )
    try:
        return list(msgspec.json.decode(answer.body, type=Report).checks)
    except msgspec.DecodeError as error:
        why = f"{holder} holds the home, and does not know these checks (status {answer.status})"
        raise _Unanswered(f"{why}; it may be of another version: start it again") from error


def _token(config: Config) -> str:
    given = config[INTERNAL_TOKEN]
    return given if given is not None else Home.told(config[HOME], INTERNAL_TOKEN_FILE) or "none"


async def _by_ourselves(call: Invocation, egress: Egress, *, unanswered: str = "") -> list[CheckOut]:
    config = call.config
    threads = ThreadPool(limit=THREADS, name="doctor")
    store, problem = _opened(call, threads)
    features = features_of(config)
    context = CheckContext(
        config=config,
        clock=call.clock,
        threads=threads,
        egress=egress,
        features=features,
        home=config[HOME],
        store=store,
        blobs=None if store is None else Blobs.open(config[HOME] / "blobs", threads=threads, read_only=True),
        store_problem=problem,
        faults=call.faults,
        unanswered=unanswered,
    )
    try:
        return [check_out(found) for found in await run_checks(context, checks_of(features))]
    finally:
        if store is not None:
            store.close_now()


def _opened(call: Invocation, threads: ThreadPool) -> tuple[Store | None, CannotOpen | None]:
    """The database, opened to read only; or the reason why it can't be opened, if it exists."""
    database = Home.database_of(call.config[HOME])
    migrations = [feature.migrations for feature in FEATURES if feature.migrations]
    try:
        if not database.exists():
            return None, None
        return Store.open(database, clock=call.clock, threads=threads, migrations=migrations, read_only=True), None
    except CannotOpen as fault:
        return None, fault
    except OSError as error:
        return None, CannotOpen(f"{database} can't be read: {error.strerror}; give it to the user that runs this")


def _is_well(checks: list[CheckOut]) -> bool:
    return all(check.state != "failed" for check in checks)


def _print(checks: list[CheckOut], *, running: bool) -> None:
    """Print the checks. Those that need attention come last, where they are still on the screen."""
    width = max(len(check.name) for check in checks)
    indent = " " * (_STATE_WIDTH + 2 + width + 2)
    for check in sorted(checks, key=lambda one: -_ORDER.index(one.state)):
        print(f"{check.state.ljust(_STATE_WIDTH)}  {check.name.ljust(width)}  {check.detail}")
        if check.remedy:
            print(f"{indent}-> {check.remedy}")
    counts = Counter(check.state for check in checks)
    told = ", ".join(f"{counts[state]} {state}" for state in _ORDER if counts[state])
    print(f"\n{told}. {'The running service was asked.' if running else 'No service was asked.'}")
