"""What a service at rest does not import: large libraries are imported where the work that needs them begins.

Each takes between half a MiB and six, in every process of everybody. A feature that needs one at boot says so by taking
it off this list.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

LATE: Final = {
    "cryptography.x509": "a mail server shows a certificate that is not trusted",
    "dns": "the servers of a mail address are looked for",
    "email.policy": "the demo world is planted, or a test has a fake mailbox get a mail",
    "h2": "dnspython asks over HTTPS, which it is not told to",
    "httpcore2": "something is asked of an outside service",
    "joserfc": "somebody signs in by an OpenID provider",
    "justhtml": "a body is sanitized",
    "svc.demo": "the demo world is planted",
    "svc.gitops.following": "a repository is followed",
    "xml.etree": "the servers of a mail address are looked for",
    "yaml": "a file of a followed repository is read",
}
"""By module, when it is loaded."""

MOST_OBJECTS: Final = 2_000
"""Of some 90,000 that are loaded, a collection of garbage looks at so many once the service listens."""

PROGRAM: Final = """
import gc, random, sys
from functools import partial
import trio

from svc.app import all_rules, all_settings, workspace_of
from svc.clock import WallClock
from svc.config import read_config
from svc.log import Log
import svc.commands

svc.commands.all_commands()
environ = {"SVC_HOME": sys.argv[1] + "/home", "HOME": sys.argv[1]}

async def boot():
    clock = WallClock()
    config = read_config(all_settings(), environ, all_rules())
    log = Log.to_stderr(form="json", clock=clock)
    async with workspace_of(config, clock=clock, log=log, rng=random.Random(), environ=environ):
        print(*sys.modules)
        svc.commands._listens(None, "http://127.0.0.1")
        print(len(gc.get_objects()))

trio.run(boot)
"""


@pytest.mark.thorough
def test_a_service_at_rest_has_loaded_only_what_it_needs_and_keeps_it_from_the_collector(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules, _, looked_through = done.stdout.splitlines()
    loaded = set(modules.split())
    assert "svc.app" in loaded
    assert {name: LATE[name] for name in LATE if name in loaded} == {}
    assert int(looked_through) < MOST_OBJECTS
