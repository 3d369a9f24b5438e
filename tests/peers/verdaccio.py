"""An npm registry that we did not write, as a process: packages are published to it as an author does.

    with verdaccio(tmp_path) as registry:
        registry.publish(folder)
        … SVC_PLUGINS_REGISTRY=registry.url

It keeps everything in the folder that it is given, asks no other registry, and lets anybody publish.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests.peers.needs import VERDACCIO_PATH
from tests.sizes import HANGS_S
from tests.support.process import free_port, until


@dataclass(frozen=True, kw_only=True)
class Verdaccio:
    url: str
    settings: Path

    def publish(self, package: Path) -> None:
        npm = shutil.which("npm")
        assert npm is not None
        command = [npm, "publish", "--registry", self.url, "--userconfig", str(self.settings)]
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr


@contextmanager
def verdaccio(directory: Path) -> Iterator[Verdaccio]:
    port = free_port()
    (directory / "config.yaml").write_text(json.dumps(_config(directory)))  # JSON is YAML, too
    settings = directory / "npmrc"
    settings.write_text(f"//127.0.0.1:{port}/:_authToken=nobody-asks\n")
    node = shutil.which("node")
    assert node is not None
    command = [node, str(VERDACCIO_PATH), "--config", str(directory / "config.yaml"), "--listen", f"127.0.0.1:{port}"]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until(lambda: _answers(port), what="the registry", deadline_s=HANGS_S, tell=(directory / "log").read_text)
        yield Verdaccio(url=f"http://127.0.0.1:{port}", settings=settings)
    finally:
        process.kill()
        process.wait()


def _config(directory: Path) -> dict[str, object]:
    everybody = {"access": "$all", "publish": "$all"}
    return {
        "storage": str(directory / "storage"),
        "auth": {"htpasswd": {"file": str(directory / "people"), "max_users": 1}},
        "packages": {"**": everybody},
        "log": {"type": "stdout", "format": "json", "level": "warn"},
    }


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=HANGS_S)
    try:
        connection.request("GET", "/-/ping")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
