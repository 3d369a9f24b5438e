"""A check: one question about the health of this service, its home and its surroundings. A feature adds checks as rows.

``/readyz``, ``svc doctor`` and the app's settings run the same rows (in :mod:`svc.health`), so they agree. Pure
records: what a check looks at, and how, is up to the feature.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from svc.clock import Clock
from svc.config import Config, ConfigFault
from svc.nursery import ThreadPool
from svc.protocol.egress import Egress
from svc.store import Blobs, CannotOpen, Store

if TYPE_CHECKING:
    from svc.feature import Feature
    from svc.workspace import Workspace

CheckState = Literal["ok", "warning", "failed", "skipped"]
"""``warning``: it works, but a person should know. ``skipped``: it could not be checked here, or there is nothing to
check.
"""

DEADLINE_S: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found. ``detail``: the state, or what is wrong. ``remedy``: what a person does about it.

    ``public`` is the word that anybody may read at ``/readyz``; if it is empty, it follows from the state.
    """

    state: CheckState
    detail: str
    remedy: str = ""
    public: str = ""


def ok(detail: str) -> Finding:
    return Finding(state="ok", detail=detail)


def warning(detail: str, remedy: str) -> Finding:
    return Finding(state="warning", detail=detail, remedy=remedy)


def failed(detail: str, remedy: str) -> Finding:
    return Finding(state="failed", detail=detail, remedy=remedy)


def skipped(detail: str, remedy: str = "") -> Finding:
    return Finding(state="skipped", detail=detail, remedy=remedy)


def refused(fault: Exception | str) -> Finding:
    """A failed finding, made from one of our sentences of the form ``what is wrong; what to do``."""
    detail, _, remedy = str(fault).rpartition("; ")
    return failed(_begun(detail), _begun(remedy)) if detail else failed(_begun(remedy), "")


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """What a check may look at: a running service, or, without ``workspace``, a home that no service uses.

    ``store`` and ``blobs`` are ``None`` if they can't be opened, and ``store_problem`` says why (``None``: there is no
    home yet). ``faults`` are the faults of the environment; a faulty variable counts as unset in ``config``.
    ``unanswered`` says why the process that holds the home could not be asked.
    """

    config: Config
    clock: Clock
    threads: ThreadPool
    egress: Egress
    features: tuple[Feature, ...]
    home: Path
    store: Store | None
    blobs: Blobs | None
    workspace: Workspace | None = None
    store_problem: CannotOpen | None = None
    faults: tuple[ConfigFault, ...] = ()
    unanswered: str = ""

    @property
    def asks_outside(self) -> bool:
        """False when fakes stand in for every outside service."""
        return not any(feature.replaces_outside for feature in self.features)


@dataclass(frozen=True, kw_only=True)
class Check:
    """``readyz``: when ``/readyz`` includes the check: always, only when it is not well, or never. An included check
    must be fast, because anybody may ask as often as they like.
    """

    name: str
    summary: str
    run: Callable[[CheckContext], Awaitable[Sequence[Finding]]]
    readyz: Literal["always", "trouble", "never"] = "never"
    deadline_s: float = DEADLINE_S
