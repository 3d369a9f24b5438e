"""Terminals: shells on this machine, in the browser, for admins.

Each terminal is a program on a pseudoterminal, in its own session. It lives on while no socket shows it. It ends with
all its processes when its program ends, when it is killed, when no client has come back for a while, when its owner is
no longer an admin, and when the service drains. Owns no table. The output of a terminal is kept in memory, bounded, and
in no log. Start reading at ``running_terminals.py``.
"""

from svc.terminals.feature import FEATURE

__all__ = ["FEATURE"]
