"""Landlock: a process on Linux 5.13 or later gives up, for good, all files and ports except those that it names.

It holds for the calling thread and everything that thread starts, so call it before there are other threads. The
kernel's Landlock version (``ABI``) decides what can be given up: files from 1 on, outgoing TCP from 4, signals to
others and abstract sockets from 6. It does not cover UDP, nor sockets that have a path. Theory: ``landlock(7)``.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
"""The same numbers on all architectures."""
_ASK_VERSION: Final = 1
_BENEATH_PATH: Final = 1
_TO_PORT: Final = 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE: Final = 1 << 14
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
"""All other rights are for folders only."""
_KNOWN_FROM: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, _TRUNCATE), (5, 1 << 15))
_CONNECT_TCP: Final = 1 << 1
_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11
FILES_FROM: Final = 1
PORTS_FROM: Final = 4
_SCOPES_FROM: Final = 6


def version() -> int:
    """The kernel's Landlock version; 0 if it has no Landlock or forbids the question."""
    if sys.platform != "linux":
        return 0
    found: int = _libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(found, 0)


def confine(*, read: Iterable[Path], write: Iterable[Path], connect: Iterable[int] | None) -> int:
    """Keep only these files and folders (with all their content), and TCP to these ports. Needs ``no_new_privs``.

    ``connect``: ``None`` keeps all ports. Missing paths are skipped. Returns :func:`version`: with 0, nothing was given
    up.
    """
    abi = version()
    if abi < FILES_FROM:
        return 0
    files = sum(rights for known_from, rights in _KNOWN_FROM if abi >= known_from)
    ports = _CONNECT_TCP if abi >= PORTS_FROM and connect is not None else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= _SCOPES_FROM else 0
    handled = struct.pack("QQQ", files, ports, scopes)[: 24 if scopes else 16 if abi >= PORTS_FROM else 8]
    ruleset = _call(_CREATE_RULESET, handled, len(handled), 0)
    try:
        for paths, rights in ((read, _READ), (write, files)):
            for path in paths:
                _allow(ruleset, path, rights & files)
        for port in (connect or ()) if ports else ():
            _call(_ADD_RULE, ruleset, _TO_PORT, struct.pack("QQ", ports, port), 0)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        kept = rights if path.is_dir() else rights & _OF_FILES
        _call(_ADD_RULE, ruleset, _BENEATH_PATH, struct.pack("=Qi", kept, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock ({number}): {os.strerror(ctypes.get_errno())}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
