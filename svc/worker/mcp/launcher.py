"""Replaces itself with a program whose rights are limited: ``launcher.py SANDBOX PROGRAM NAME ARGUMENTS…``.

It is started alone, by its file, with only Python's own modules: nothing else runs between this process and the
program. ``SANDBOX`` is JSON: folders to ``read``, folders to ``write``, and the environment variables to ``keep``.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Final

MAX_MEMORY_BYTES: Final = 4 * 1024**3
"""Data of an MCP server's program in memory. Beyond: the system gives it no more."""
MAX_FILE_BYTES: Final = 1024**3
"""One file that an MCP server's program writes. Beyond: the system ends it."""
MAX_DESCRIPTORS: Final = 1_024
"""Files and sockets that an MCP server's program has open. Beyond: the system opens no more."""
NOT_STARTED: Final = 127


def main(sandbox: str, program: str, *command: str) -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from svc import landlock  # the path to svc is known only now
    from svc.confinement import give_up_rights

    asked = json.loads(sandbox)
    environ = {name: os.environ[name] for name in asked["keep"] if name in os.environ}
    for limit, most in (
        (resource.RLIMIT_DATA, MAX_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NOFILE, MAX_DESCRIPTORS),
    ):
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    give_up_rights()
    landlock.confine(read=map(Path, asked["read"]), write=map(Path, asked["write"]), connect=None)
    try:
        os.execve(program, command, environ)  # noqa: S606  what it is for
    except OSError as error:
        print(f"It does not start: {error.strerror}.", file=sys.stderr)
    return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
