"""Keeps the two planes from reading each other when they are two processes of one user.

A clean environment is not enough: a process may read the memory and the initial environment of another process of its
user. On Linux the trusted process declares itself unreadable, and the worker gives up every right that would let it
read anyway. Other systems get no such protection; ``PROTECTED`` says so.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAP_VERSION: Final = 0x20080522
_CAPABILITIES: Final = 64

PROTECTED: Final = sys.platform == "linux"


def let_nobody_read() -> None:
    """From now on no other process of this user can read this one's memory or environment. ``exec`` undoes it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if PROTECTED:
        _prctl(_PR_SET_DUMPABLE, 0)


def give_up_rights() -> None:
    """This process keeps no rights that its user does not have, and nothing that it starts can gain any."""
    let_nobody_read()
    if not PROTECTED:
        return
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(_CAPABILITIES):
        _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails if there are none to drop
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION, 0)
    _libc().capset(header, (ctypes.c_uint32 * 6)())


def _prctl(option: int, value: int) -> None:
    if _libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
