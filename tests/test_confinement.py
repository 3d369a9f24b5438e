"""The worker can't read its parent: neither its memory nor the environment that it was started with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from svc.confinement import PROTECTED

pytestmark = pytest.mark.skipif(not PROTECTED, reason="only Linux keeps processes of one user apart")

PARENT = """
import subprocess, sys
from svc.confinement import let_nobody_read
let_nobody_read()
sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]], env={}).returncode)
"""
CHILD = """
import os
{give_up}
for name in ("environ", "mem"):
    try:
        with open(f"/proc/{{os.getppid()}}/{{name}}", "rb") as file:
            file.seek(0)
            print(name, "is read" if name == "mem" or b"canary" in file.read() else "is empty")
    except PermissionError:
        print(name, "is refused")
"""


def reads(give_up: str) -> str:
    root = str(Path(__file__).parent.parent)
    environ = {"SECRET": "canary", "PYTHONPATH": root}
    command = [sys.executable, "-c", PARENT, CHILD.format(give_up=give_up)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def test_a_worker_that_gave_up_its_rights_reads_nothing_of_its_parent() -> None:
    give_up = "import sys; sys.path.insert(0, {root!r}); from svc.confinement import give_up_rights; give_up_rights()"
    given = give_up.format(root=str(Path(__file__).parent.parent))
    assert reads(given) == "environ is refused\nmem is refused\n"


def test_a_worker_has_no_capability_and_gains_none() -> None:
    code = "from svc.confinement import give_up_rights; give_up_rights(); print(open('/proc/self/status').read())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status = dict(line.split(":\t") for line in ran.stdout.strip().splitlines() if ":\t" in line)
    sets = ["CapEff", "CapPrm", "CapInh", *(["CapBnd"] if os.geteuid() == 0 else [])]  # others can't drop the last
    assert [int(status[name], 16) for name in sets] == [0] * len(sets)
    assert status["NoNewPrivs"].strip() == "1"
