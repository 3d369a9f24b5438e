"""How the service runs: a tree of supervised subsystems, their orderly end, and the pools of threads and processes.

Owns starting, restarting and draining (:class:`Root`), fixed schedules (:func:`every`), the waiting of loops
(:class:`Wake`), the pools, programs as process groups, the signals and the watchdog. It knows nothing of HTTP, of the
database or of any feature.

Terms: a *subsystem* is a long-running part that a feature hands in. Its *intake* is the body of ``run``: listeners,
loops. Its *work* is what the intake started and somebody waits for. To *drain* is to end the intake at once, and the
work within a time limit.
"""

from svc.backoff import Backoff
from svc.nursery.autojump import autojump_held
from svc.nursery.child_process import kill_group, leash, process_group
from svc.nursery.inspector import Inspector, TreeRow
from svc.nursery.memory import give_back_memory, share_memory
from svc.nursery.process_pool import ProcessPool, WorkerCrashed, WorkerTimeout
from svc.nursery.root import Root
from svc.nursery.schedule import every
from svc.nursery.signals import watch_signals
from svc.nursery.subsystem import Child, ChildState, Phase, Subsystem
from svc.nursery.task_group import open_task_group
from svc.nursery.thread_pool import ThreadPool, shorten_turns
from svc.nursery.turns import Turns
from svc.nursery.verdict import NOT_SERVING, Verdict, verdict_on
from svc.nursery.vitals import open_descriptors, resident_bytes
from svc.nursery.wake import Wake
from svc.nursery.watchdog import Stall, Watchdog

__all__ = [
    "NOT_SERVING",
    "Backoff",
    "Child",
    "ChildState",
    "Inspector",
    "Phase",
    "ProcessPool",
    "Root",
    "Stall",
    "Subsystem",
    "ThreadPool",
    "TreeRow",
    "Turns",
    "Verdict",
    "Wake",
    "Watchdog",
    "WorkerCrashed",
    "WorkerTimeout",
    "autojump_held",
    "every",
    "give_back_memory",
    "kill_group",
    "leash",
    "open_descriptors",
    "open_task_group",
    "process_group",
    "resident_bytes",
    "share_memory",
    "shorten_turns",
    "verdict_on",
    "watch_signals",
]
