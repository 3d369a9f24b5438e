"""Agents: pages under ``agents/`` that say what a model does with the tools, and the runs of them.

Owns the tables ``agent_*``. A run acts as its page's owner, is durable, and can do no more than its tools let it: what
waits for a person is decided by :mod:`svc.tools`. The loop itself is :mod:`svc.worker.agents`, in the worker plane.
"""

from svc.agents.feature import FEATURE

__all__ = ["FEATURE"]
