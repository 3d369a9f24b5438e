"""Agents: pages under ``agents/`` that say what a model does with the tools, and the runs of these agents.

Owns the tables ``agent_*``. A run acts as the owner of its page, is durable, and can do no more than its tools allow.
Which calls wait for a person is decided by :mod:`svc.tools`. The loop itself runs in the worker plane:
:mod:`svc.worker.agents`.
"""

from svc.agents.feature import FEATURE

__all__ = ["FEATURE"]
