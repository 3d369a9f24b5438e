"""Terminals: shells on this machine, in the browser, for admins.

Each is a program on a pseudoterminal, in a session of its own, which lives on while no socket shows it and ends whole:
when its program ends, when it is killed, when nobody has come back for a while, when its owner is no admin any more,
and when the service drains. Owns no table; what a terminal said is kept in memory, bounded, and in no log. Start
reading at ``house.py``.
"""

from svc.terminals.feature import FEATURE

__all__ = ["FEATURE"]
