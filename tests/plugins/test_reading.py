"""What an installed package brings is read from its files; a bad one says why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from svc.plugins.reading import read_plugin
from tests.plugins.plugin_service import lay
from tests.plugins.registry import EXAMPLE, example, studio
from tests.test_cli import svc


def test_the_example_brings_what_its_manifest_says(tmp_path: Path) -> None:
    lay(tmp_path, example())
    plugin = read_plugin(tmp_path, example().name)
    assert plugin.problem is None
    assert sorted(plugin.bodies) == ["pages/handbook.md", "templates/meeting.md"]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no manifest": ({"svc": None}, "It is no plugin"),
    "another shape": ({"svc": [1]}, "Expected `object`"),
    "a page that is not there": ({"files": {}}, "pages/welcome.md can't be read (No such file or directory)"),
    "a page that is too large": ({"files": {"pages/welcome.md": "a" * 262_145}}, "more than 262144 bytes"),
    "a page that is no text": ({"files": {"pages/welcome.md": b"a\xff"}}, "is not UTF-8 text, from byte 2 on"),
    "a page with a NUL": ({"files": {"pages/welcome.md": "a\0"}}, "holds a NUL"),
    "a manifest that is too large": ({"more": {"x": "a" * 300_000}}, "package.json has more than 262144 bytes"),
    "another name": ({"more": {"name": "other"}}, "another name"),
    "no version": ({"more": {"version": 1}}, "is not understood"),
    "a version that turns around": ({"more": {"version": "1\u202e"}}, "no proper version"),
}


@pytest.mark.parametrize(("changed", "words"), BAD.values(), ids=BAD.keys())
def test_a_bad_plugin_is_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    bad = studio()
    for key, value in changed.items():
        setattr(bad, key, value)
    lay(tmp_path, bad)
    plugin = read_plugin(tmp_path, "svc-plugin-studio")
    assert plugin.manifest is None
    assert words in (plugin.problem or "")


def test_texts_have_a_bound_together(tmp_path: Path) -> None:
    pages = [{"kind": "note", "name": f"n{n}", "title": "N", "file": f"n{n}.md"} for n in range(9)]
    large = studio(pages=pages)
    large.files = {f"n{n}.md": "a" * 250_000 for n in range(9)}
    lay(tmp_path, large)
    assert "more than 2097152 bytes" in (read_plugin(tmp_path, large.name).problem or "")


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_not_read(tmp_path: Path, kind: str) -> None:
    folder = lay(tmp_path, studio())
    page = folder / "pages" / "welcome.md"
    page.unlink()
    if kind == "link":
        page.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(page)
    else:
        page.mkdir()
    assert "pages/welcome.md" in (read_plugin(tmp_path, "svc-plugin-studio").problem or "")


def test_an_author_is_told_what_a_service_would_say(tmp_path: Path) -> None:
    done = svc("plugins", "check", str(EXAMPLE))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "svc-plugin-tern-and-tide 1.0.0: Tern & Tide"
    assert "  theme harbour: Harbour" in done.stdout
    assert "  needs a yes: Be given the credential mcp.tides, for the MCP server tides" in done.stdout
    bad = studio(surprise=1)
    done = svc("plugins", "check", str(lay(tmp_path, bad)))
    assert done.returncode == 1
    assert "unknown field `surprise`" in done.stdout
    assert "package.json can't be read" in svc("plugins", "check", str(tmp_path)).stdout


def test_a_package_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert "package.json can't be read" in (read_plugin(tmp_path, "none").problem or "")
