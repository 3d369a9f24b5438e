"""The build hook: puts the web app, with its browser modules, into the wheel as ``svc/_static``.

The browser modules are not committed. Where ``static/vendor`` is missing or was made from another lock file, they are
taken from the npm registry by ``static/package-lock.json``, in a temporary folder: a build leaves no ``node_modules``
behind. A wheel carries the app's modules joined into few files (``static/join.mjs``); an editable install serves
``static/`` where it lies. Without Node the build stops with one sentence. Owns nothing but ``static/vendor``.
"""

from __future__ import annotations

import hashlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_MIN_MAJOR: Final = 20
NPM_TIMEOUT_S: Final = 600
_STAMPED: Final = ("package.json", "package-lock.json", "vendor.mjs")
_SERVED_FILES: Final = Path(__file__).parent / "svc" / "protocol" / "served_files.py"


class WebAppHook(BuildHookInterface[Any]):
    """Registered in pyproject.toml for wheels, editable ones included."""

    PLUGIN_NAME = "custom"

    _joined: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        static = Path(self.root) / "static"
        if version == "editable":
            if not is_fresh(static):
                with packages(static) as modules:
                    make_vendor(static, modules)
            return
        self._joined = Path(tempfile.mkdtemp(prefix="svc-joined-"))
        for path in joined(static, self._joined / "static"):
            name = path.relative_to(self._joined / "static").as_posix()
            build_data["force_include"][str(path)] = f"svc/_static/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._joined is not None:
            shutil.rmtree(self._joined)


def joined(static: Path, target: Path) -> list[Path]:
    """The files that belong into the wheel, in order, made in ``target``: what the service serves, by its own list."""
    with packages(static) as modules:
        if not is_fresh(static):
            make_vendor(static, modules)
        _run([_tool("node"), str(static / "join.mjs"), str(target), "--modules", str(modules)], modules)
    return list(runpy.run_path(str(_SERVED_FILES))["served_files"](target))


def is_fresh(static: Path) -> bool:
    """Whether ``vendor/`` was made from these very files."""
    made_from = static / "vendor" / ".made-from"
    digest = hashlib.sha256(b"".join((static / name).read_bytes() for name in _STAMPED)).hexdigest()
    return made_from.is_file() and made_from.read_text().strip() == digest


@contextmanager
def packages(static: Path) -> Iterator[Path]:
    """A folder with the locked packages in ``node_modules``: the checkout's own where they are there, else fetched."""
    _check_node(_tool("node"))
    if is_fresh(static) and (static / "node_modules" / "esbuild").is_dir():
        yield static
        return
    npm = _tool("npm")
    with tempfile.TemporaryDirectory(prefix="svc-vendor-") as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(static / name, folder)
        _run([npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], Path(folder))
        yield Path(folder)


def make_vendor(static: Path, modules: Path) -> None:
    """Copy the modules that the app imports."""
    _run([_tool("node"), str(static / "vendor.mjs"), str(modules)], modules)


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        _stop(f"{name} was not found")
    return found


def _check_node(node: str) -> None:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    said = answer.stdout.strip()
    major = re.match(r"v(\d+)", said)
    if major is None or int(major[1]) < NODE_MIN_MAJOR:
        _stop(f"found is {said or 'a node that does not run'}")


def _stop(why: str) -> None:
    sys.exit(
        f"Building svc from source needs Node.js {NODE_MIN_MAJOR} or newer ({why}); install it, "
        "or install svc from a wheel."
    )


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, timeout=NPM_TIMEOUT_S, stdout=subprocess.DEVNULL)  # noqa: S603
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as fault:
        sys.exit(f"Building svc: the web app could not be made by `{' '.join(command[:2])}` ({fault}).")
