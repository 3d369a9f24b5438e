"""What the wheel's build hook ships, when it fetches anew, and what it says without Node."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from svc.protocol.static import ONLINE_ONLY, WORKER_NAME, StaticTree
from tests.peers.needs import NODE, need

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
SOURCES = ("package.json", "package-lock.json", "vendor.mjs")
MOST_FILES = 48
"""Modules and stylesheets: one or two for each feature, when it is first shown."""
MOST_FIRST_FILES = 4
"""Those that a phone waits for before it shows anything."""


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


@pytest.mark.thorough
def test_a_wheel_carries_few_files(hook: ModuleType, tmp_path: Path) -> None:
    need(NODE)
    target = tmp_path / "joined"
    shipped = {path.relative_to(target).as_posix() for path in hook.joined(STATIC, target)}
    assert {"index.html", "sw.js", "icon.svg", "joined/app.js", "joined/app.css", "vendor/LICENSES.txt"} <= shipped
    assert {"vendor/pdf/pdf.mjs", "vendor/pdf/reading.worker.mjs", "vendor/pdf/cmaps/H.bcmap"} <= shipped
    modules = {name for name in shipped if name.endswith((".js", ".mjs", ".css")) and not name.startswith(ONLINE_ONLY)}
    assert len(modules) <= MOST_FILES
    page = (target / "index.html").read_text()
    assert len({name for name in modules if f'/{name}"' in page}) <= MOST_FIRST_FILES
    assert not any("node_modules" in name or "/." in name or name.startswith(".") for name in shipped)
    assert shipped == {*StaticTree.load(target).names(), "index.html", WORKER_NAME}


@pytest.mark.thorough
def test_what_shows_pdfs_finds_its_library_from_where_it_is_joined(hook: ModuleType, tmp_path: Path) -> None:
    need(NODE)
    target = tmp_path / "joined"
    hook.joined(STATIC, target)
    naming = [path for path in (target / "joined").glob("*.js") if "vendor/pdf/" in path.read_text()]
    assert naming
    address = re.search(r'"([^"]*vendor/pdf/)"', naming[0].read_text())
    assert address is not None
    assert (naming[0].parent / address[1]).resolve() == target / "vendor" / "pdf"
    assert "pdfjsVersion" not in naming[0].read_text()


def test_what_makes_the_app_is_no_part_of_it() -> None:
    assert not {"vendor.mjs", "join.mjs", "package.json", "types.d.ts"} & set(StaticTree.load(STATIC).names())


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


def test_a_folder_is_copied_byte_by_byte_and_its_own_notice_is_kept(tree: Path) -> None:
    tables = tree / "node_modules" / "tides" / "tables"
    tables.mkdir()
    (tables / "one.bcmap").write_bytes(bytes(range(256)))
    (tables / "LICENSE_TABLES").write_text("Ask the moon.")
    (tree / "package.json").write_text('{"vendor": {"sea/tides.mjs": "tides/tides.mjs", "sea/t/": "tides/tables/"}}')
    assert vendor(tree).returncode == 0
    copied = sorted(path.name for path in (tree / "vendor" / "sea").rglob("*.*"))
    assert copied == ["one.bcmap", "tides.mjs"]
    assert (tree / "vendor" / "sea" / "t" / "one.bcmap").read_bytes() == bytes(range(256))
    assert "tides/tables/LICENSE_TABLES\n\nAsk the moon.\n" in (tree / "vendor" / "LICENSES.txt").read_text()


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


def test_without_node_the_build_stops_with_one_sentence(
    hook: ModuleType, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as stopped, hook.packages(tree):
        pass
    assert str(stopped.value) == (
        "Building svc from source needs Node.js 20 or newer (node was not found); install it, "
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
    with pytest.raises(SystemExit, match=r"found is v18\.19\.0"), hook.packages(tree):
        pass


def test_the_lock_file_names_no_registry_and_no_program_for_one_system_that_nothing_here_runs() -> None:
    lock = (STATIC / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert "@napi-rs/canvas" not in lock, (
        "what pdfjs-dist would draw with in Node: 35 MB, taken out of the lock by hand"
    )
