"""How it runs: a tree of supervised subsystems, their orderly end, and the gates to threads and processes.

Owns starting, restarting and draining (:class:`Root`), fixed schedules (:func:`every`), :class:`Backoff`, the gates,
the signals and the watchdog of the event loop. It knows nothing of HTTP, of the database or of any feature.

The words: a *subsystem* is what a feature hands in. Its *intake* is the body of ``run``: listeners, loops. Its *work*
is what the intake began and somebody waits for. To *drain* is to end the intake at once and the work in good time.
"""

from svc.nursery.backoff import Backoff
from svc.nursery.process_gate import GateCrashed, GateTimeout, ProcessGate
from svc.nursery.root import Root
from svc.nursery.schedule import every
from svc.nursery.signals import watch_signals
from svc.nursery.subsystem import Child, ChildState, Phase, Subsystem
from svc.nursery.task_group import open_task_group
from svc.nursery.thread_gate import ThreadGate
from svc.nursery.watchdog import watchdog

__all__ = [
    "Backoff",
    "Child",
    "ChildState",
    "GateCrashed",
    "GateTimeout",
    "Phase",
    "ProcessGate",
    "Root",
    "Subsystem",
    "ThreadGate",
    "every",
    "open_task_group",
    "watch_signals",
    "watchdog",
]
