"""A stand-in for an npm registry: keeps packages in memory and serves them as one does. Hostile ones, too.

    with serving() as registry:
        registry.publish(studio("1.0.0"))
        … SVC_PLUGINS_REGISTRY=registry.url

What it says is what npm asks of a registry when it resolves and fetches (``GET /<name>``, ``GET /<name>/-/<file>``); it
takes nothing and checks nothing. Runs in threads, on a port of its own.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

EXAMPLE: Final = Path(__file__).parents[2] / "docs" / "example-plugin"


@dataclass(kw_only=True)
class Package:
    """One version of a package. ``more`` stands in its ``package.json``; ``entries`` are laid into its tarball besides.

    ``integrity``: what the registry says, where it lies. ``tarball``: bytes that it serves instead.
    """

    name: str
    version: str = "1.0.0"
    svc: Any = None
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[tarfile.TarInfo, ...] = ()
    integrity: str | None = None
    tarball: bytes | None = None

    def manifest(self) -> dict[str, Any]:
        svc = {} if self.svc is None else {"svc": self.svc}
        return {"name": self.name, "version": self.version, **svc, **self.more}

    def contents(self) -> dict[str, bytes]:
        """Its files."""
        files = {"package.json": json.dumps(self.manifest()), **self.files}
        return {name: one.encode() if isinstance(one, str) else one for name, one in files.items()}

    def packed(self) -> bytes:
        if self.tarball is not None:
            return self.tarball
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, data in self.contents().items():
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            for entry in self.entries:
                tar.addfile(entry)
        return gzip.compress(packed.getvalue(), mtime=0)


@dataclass(kw_only=True)
class Registry:
    url: str = ""
    packages: dict[str, dict[str, Package]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_down: bool = False
    hangs: threading.Event | None = None

    def publish(self, *packages: Package) -> None:
        for one in packages:
            self.packages.setdefault(one.name, {})[one.version] = one

    def answer(self, path: str) -> tuple[int, bytes]:
        name, _, file = unquote(path.partition("?")[0]).lstrip("/").partition("/-/")
        versions = self.packages.get(name)
        if self.is_down:
            return 503, b"{}"
        if versions is None:
            return 404, b'{"error": "not found"}'
        if file:
            found = next((one for one in versions.values() if file == _file(one)), None)
            return (404, b"{}") if found is None else (200, found.packed())
        return 200, json.dumps(self._document(name, versions)).encode()

    def _document(self, name: str, versions: Mapping[str, Package]) -> dict[str, Any]:
        rows = {version: one.manifest() | {"dist": self._dist(one)} for version, one in versions.items()}
        return {"name": name, "dist-tags": {"latest": list(versions)[-1]}, "versions": rows}

    def _dist(self, package: Package) -> dict[str, str]:
        data = package.packed()
        right = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        address = f"{self.url}/{package.name}/-/{_file(package)}"
        integrity = {"integrity": right if package.integrity is None else package.integrity}
        return {"tarball": address, "shasum": hashlib.sha1(data).hexdigest()} | (
            integrity if integrity["integrity"] else {}
        )


def example(version: str | None = None) -> Package:
    """The plugin of the documentation, as ``npm publish`` would pack it."""
    package = json.loads((EXAMPLE / "package.json").read_text())
    files = {
        path.relative_to(EXAMPLE).as_posix(): path.read_text()
        for path in sorted(EXAMPLE.rglob("*"))
        if path.is_file() and path.name != "package.json"
    }
    more = {key: value for key, value in package.items() if key not in {"name", "version", "svc"}}
    return Package(
        name=package["name"], version=version or package["version"], svc=package["svc"], files=files, more=more
    )


def studio(version: str = "1.0.0", **manifest: Any) -> Package:
    """A small plugin with one note."""
    return Package(
        name="svc-plugin-studio",
        version=version,
        svc={
            "title": "Studio",
            "pages": [{"kind": "note", "name": "welcome", "title": "Welcome", "file": "pages/welcome.md"}],
            **manifest,
        },
        files={"pages/welcome.md": f"Version {version}\n"},
    )


def _file(package: Package) -> str:
    return f"{package.name.rpartition('/')[2]}-{package.version}.tgz"


@contextmanager
def serving() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(unquote(self.path))
            if registry.hangs is not None:
                registry.hangs.wait()
            status, data = registry.answer(self.path)
            try:
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                return  # npm was ended meanwhile

        def log_message(self, format: str, *args: object) -> None:
            """Not to the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    registry.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield registry
    finally:
        if registry.hangs is not None:
            registry.hangs.set()
        server.shutdown()
        server.server_close()
        thread.join()
