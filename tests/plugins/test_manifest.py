"""Manifests: what may stand in one, and how a bad one is named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from svc.plugins.manifest import BadManifest, ColourName, LengthName, manifest_of, rights_of
from svc.plugins.wire import tokens_of
from tests.plugins.registry import example

TOKENS = Path(__file__).parents[2] / "static" / "ui" / "tokens.css"
NOTE = {"kind": "note", "name": "a", "title": "A", "file": "a.md"}


def with_(**more: Any) -> dict[str, Any]:
    return {"title": "Studio", **more}


def theme(**more: Any) -> dict[str, Any]:
    return with_(themes=[{"name": "t", "title": "T", **more}])


def test_the_example_of_the_documentation_is_a_good_one() -> None:
    manifest = manifest_of(example().svc)
    assert [row.name for row in manifest.pages] == ["handbook", "meeting"]
    tokens = tokens_of(manifest.themes[0])
    assert tokens["paper"] == "light-dark(#eef4f8, #0d1720)"
    assert tokens["radius"] == "0.25rem"


def test_a_theme_sets_tokens_that_the_app_has() -> None:
    there = set(re.findall(r"^ +--([a-z-]+):", TOKENS.read_text(), re.MULTILINE))
    assert {*get_args(ColourName), *get_args(LengthName)} <= there


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (5, "Expected `object`"),
        ({}, "missing required field `title`"),
        (with_(surprise=1), "unknown field `surprise`"),
        (with_(title="a" * 81), "length <= 80"),
        (with_(title="Safe\u202etxt.exe"), "not seen"),
        (with_(title="two\nlines"), "not seen"),
        (with_(pages=[{**NOTE, "file": "../a.md"}]), "matching regex"),
        (with_(pages=[{**NOTE, "file": "/etc/a.md"}]), "matching regex"),
        (with_(pages=[{**NOTE, "file": "a/.b.md"}]), "matching regex"),
        (with_(pages=[{**NOTE, "file": "a.html"}]), "matching regex"),
        (with_(pages=[{**NOTE, "file": "a.md\n"}]), "not seen"),
        (with_(pages=[{**NOTE, "kind": "script"}]), "Invalid enum value 'script'"),
        (with_(pages=[NOTE, NOTE]), "`$.pages` has 'a' twice"),
        (with_(pages=[{**NOTE, "name": f"a{number}"} for number in range(101)]), "length <= 100"),
        (with_(palette=[{"title": "Open", "note": "b"}]), "there is no note 'b'"),
        (with_(palette=[{"title": "Open"}]), "either a `note` or a `path`"),
        (theme(), "it sets nothing"),
        (theme(colours={"papyrus": "#fff"}), "Invalid enum value 'papyrus'"),
        (theme(colours={"paper": "red"}), "matching regex"),
        (theme(colours={"paper": "url(https://evil.example)"}), "matching regex"),
        (theme(colours={"paper": "#fff;} body {display:none"}), "matching regex"),
        (theme(colours={"paper": "#fff\n"}), "not seen"),
        (theme(colours={"paper": {"light": "#fff"}}), "missing required field `dark`"),
        (theme(lengths={"radius": "calc(1px)"}), "matching regex"),
        (theme(lengths={"radius": "99px"}), "no length from 0"),
        (theme(lengths={"font": "1px"}), "Invalid enum value 'font'"),
        (with_(mcp=[{"name": "s"}]), "either a `command` or a `url`"),
        (with_(mcp=[{"name": "s", "command": "a", "url": "https://a.example"}]), "either a `command` or a `url`"),
        (with_(mcp=[{"name": "s", "url": "http://a.example"}]), "not a plain https address"),
        (with_(mcp=[{"name": "s", "url": "https://me:pass@a.example"}]), "not a plain https address"),
        (with_(mcp=[{"name": "s", "url": "https://[a"}]), "not a plain https address"),
        (with_(mcp=[{"name": "s", "command": "a\u200b"}]), "not seen"),
    ],
)
def test_a_bad_manifest_is_named_with_its_reason(manifest: Any, words: str) -> None:
    with pytest.raises(BadManifest, match="not as it should be") as caught:
        manifest_of(manifest)
    assert words in str(caught.value)


def test_a_right_changes_with_all_that_it_lets_happen() -> None:
    def ids(server: dict[str, Any], text: str = "Be kind.") -> set[str]:
        rule = {"kind": "rule", "name": "r", "title": "Tidy", "file": "r.md"}
        manifest = manifest_of(with_(mcp=[server], pages=[rule]))
        return {right.id for right in rights_of(manifest, {"r.md": text})}

    server = {"name": "s", "command": "node", "args": ["a.js"], "env": {"KEY": {"capability": "llm.a"}}}
    before = ids(server)
    assert len(before) == 3
    assert ids(server) == before
    assert len(ids({**server, "args": ["b.js"]}) & before) == 1, "only the rule's is the same"
    assert len(ids(server, "Be bad.") & before) == 2, "only the server's are the same"


def test_what_is_only_read_needs_no_yes() -> None:
    assert rights_of(manifest_of(with_(pages=[NOTE])), {"a.md": ""}) == ()


def test_the_schema_is_that_of_a_whole_manifest() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "plugin-manifest.schema.json").read_text())
    assert set(schema["$defs"]["Manifest"]["properties"]) >= set(example().svc)
    assert schema["$defs"]["Manifest"]["additionalProperties"] is False
