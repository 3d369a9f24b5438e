"""What the wheel's build hook ships, when it fetches anew, and what it says without Node."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from svc.protocol.static import WORKER_NAME, StaticTree
from tests.peers.needs import NODE, need

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
SOURCES = ("package.json", "package-lock.json", "vendor.mjs")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout's static/, with one installed package that is its only vendor module."""
    static = tmp_path / "static"
    package = static / "node_modules" / "tides"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "1.2.3", "license": "MIT"}')
    (package / "LICENSE").write_text("Do as you like.")
    (package / "tides.mjs").write_text("export const high = 1;\n//# sourceMappingURL=tides.mjs.map\n")
    (static / "package.json").write_text('{"vendor": {"tides.mjs": "tides/tides.mjs"}}')
    (static / "package-lock.json").write_text("{}")
    shutil.copy(STATIC / "vendor.mjs", static)
    return static


def vendor(static: Path) -> subprocess.CompletedProcess[str]:
    node = shutil.which("node")
    need(NODE)
    assert node is not None
    return subprocess.run([node, "vendor.mjs"], cwd=static, capture_output=True, text=True, check=False)


def test_only_what_is_served_is_shipped(hook: ModuleType) -> None:
    names = {path.relative_to(STATIC).as_posix() for path in hook.shipped(STATIC)}
    assert {"index.html", "app.js", "icon.svg", "mail/page.js", "ui/tokens.css", "mail/list.css"} <= names
    assert {"vendor/preact.mjs", "vendor/LICENSES.txt"} <= names
    folders = {name.split("/")[0] for name in names}
    assert not folders & {
        "node_modules",
        "package.json",
        "package-lock.json",
        "jsconfig.json",
        "types.d.ts",
        "vendor.mjs",
    }
    assert not any("/." in name or name.startswith(".") for name in names)


def test_what_is_served_and_what_is_shipped_are_one_list(hook: ModuleType) -> None:
    shipped = {path.relative_to(STATIC).as_posix() for path in hook.shipped(STATIC)}
    assert shipped == {*StaticTree.load(STATIC).names(), "index.html", WORKER_NAME}


def test_vendor_modules_are_fresh_until_the_lock_changes(hook: ModuleType, tree: Path) -> None:
    assert not hook.is_fresh(tree)
    assert vendor(tree).returncode == 0
    assert hook.is_fresh(tree)
    (tree / "package-lock.json").write_text('{"lockfileVersion": 3}')
    assert not hook.is_fresh(tree)


def test_copies_carry_their_licence_and_no_pointer_to_a_map(tree: Path) -> None:
    assert vendor(tree).returncode == 0
    assert (tree / "vendor" / "tides.mjs").read_text() == "export const high = 1;\n"
    assert (tree / "vendor" / "LICENSES.txt").read_text() == "tides 1.2.3 (MIT)\n\nDo as you like.\n"


def test_what_a_copied_module_has_in_it_is_named_with_its_licence(tree: Path) -> None:
    modules = tree / "node_modules"
    (modules / "tides" / "package.json").write_text('{"version": "1", "license": "MIT", "dependencies": {"moon": "*"}}')
    (modules / "moon").mkdir()
    (modules / "moon" / "package.json").write_text('{"version": "2", "license": "ISC"}')
    (modules / "moon" / "LICENSE").write_text("Shine.")
    assert vendor(tree).returncode == 0
    assert "moon 2 (ISC)\n\nShine.\n" in (tree / "vendor" / "LICENSES.txt").read_text()


def test_a_missing_module_is_named_and_the_old_ones_stay(tree: Path) -> None:
    assert vendor(tree).returncode == 0
    (tree / "package.json").write_text('{"vendor": {"tides.mjs": "tides/gone.mjs"}}')
    done = vendor(tree)
    assert done.returncode == 1
    assert "tides/gone.mjs" in done.stderr
    assert (tree / "vendor" / "tides.mjs").exists()


def test_without_npm_the_build_stops_with_one_sentence(
    hook: ModuleType, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as stopped:
        hook.make_vendor(tree)
    assert str(stopped.value) == (
        "Building svc from source needs Node.js 20 or newer (npm was not found); install it, "
        "or install svc from a wheel."
    )


def test_an_old_node_is_told_its_version(
    hook: ModuleType, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("npm", "node"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho v18.19.0\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"found is v18\.19\.0"):
        hook.make_vendor(tree)


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (STATIC / "package-lock.json").read_text()
