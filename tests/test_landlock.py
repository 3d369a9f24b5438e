"""What a confined process reaches: the files and ports that it named, and no other."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from svc import landlock

ROOT = Path(__file__).parent.parent
needs = pytest.mark.skipif(landlock.version() < landlock.PORTS_FROM, reason="this kernel has no Landlock for ports")

PROBE = """
import json, socket, sys
from pathlib import Path
from svc.confinement import give_up_rights
{confine}
def said(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"
home = Path(sys.argv[1])
print(json.dumps({{
    "read": said((home / "db" / "svc.sqlite3").read_bytes),
    "list": said(lambda: list(home.iterdir())),
    "write": said(lambda: (home / "new").write_text("x")),
    "own": said(lambda: (home / "worker" / "new").write_text("x")),
    "remove": said((home / "db" / "svc.sqlite3").unlink),
    "named port": said(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2]))).close()),
    "other port": said(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3]))).close()),
    "module": said(lambda: __import__("sqlite3")),
}}))
"""
ALONE = """
give_up_rights()
from svc import landlock
here = Path(sys.argv[1])
assert landlock.confine(
    read=[Path(sys.base_prefix), Path("/lib"), Path("/nowhere")], write=[here / "worker"], connect=[int(sys.argv[2])]
) == landlock.version()
"""
AS_A_WORKER = """
from svc.config import read_config
from svc.worker.plane import known_settings
from svc.worker.process import _confine
give_up_rights()
_confine(read_config(known_settings(()), {"SVC_HOME": sys.argv[1], "SVC_BROKER_URL": ":" + sys.argv[2]}))
"""
KEPT = {
    **dict.fromkeys(("read", "list", "write", "remove", "other port"), "PermissionError"),
    **dict.fromkeys(("own", "named port", "module"), "done"),
}


def probed(confine: str, home: Path) -> dict[str, str]:
    (home / "db").mkdir(parents=True)
    (home / "worker").mkdir()
    (home / "db" / "svc.sqlite3").write_text("mail")
    with socket.create_server(("127.0.0.1", 0)) as named, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(one.getsockname()[1]) for one in (named, other)]
        command = [sys.executable, "-c", PROBE.format(confine=confine), str(home), *ports]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, str] = json.loads(ran.stdout)
    return found


@needs
@pytest.mark.parametrize("confine", [ALONE, AS_A_WORKER], ids=["alone", "as a worker"])
def test_a_confined_process_reaches_what_it_named_and_nothing_else(confine: str, tmp_path: Path) -> None:
    assert probed(confine, tmp_path / "home") == KEPT


@needs
def test_a_home_among_the_code_is_kept_from_a_worker_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    assert probed(AS_A_WORKER, tmp_path / "home") == KEPT


def test_one_that_confines_itself_to_nothing_it_names_reaches_all(tmp_path: Path) -> None:
    """So the probe finds what it would find."""
    assert set(probed("", tmp_path / "home").values()) == {"done"}
