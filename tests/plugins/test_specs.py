"""What may be named as a plugin, and what is refused before npm hears of it."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.plugins.specs import MAX_PLUGINS, BadSpec, listed, pinned


def test_names_are_listed_with_commas_or_spaces_and_versions_or_ranges() -> None:
    found = listed("b@^1.2, a@2.0.1 @team/notes@1.x||>=3.0.0-rc.1,c")
    assert list(map(str, found)) == ["@team/notes@1.x||>=3.0.0-rc.1", "a@2.0.1", "b@^1.2", "c@*"]


def test_the_file_of_a_repository_names_them_in_a_list_where_ranges_may_have_spaces() -> None:
    found = pinned('{"plugins": ["a@>=1.2 <2", "b@1.0.0 - 1.4", "c@ ~2 "]}')
    assert list(map(str, found)) == ["a@>=1.2 <2", "b@1.0.0 - 1.4", "c@~2"]


@pytest.mark.parametrize(
    "text",
    [
        "git+https://github.com/a/b.git",
        "github:a/b",
        "a/b",
        "../evil",
        "./evil",
        "/etc/passwd",
        "file:../evil",
        "https://evil.example/a.tgz",
        "a@npm:b@1",
        "a@git+ssh://git@evil.example/b",
        "a@file:/etc",
        "a@latest",
        "a@1.0.0;rm",
        "a@1 --registry=http://evil.example",
        "-g",
        "--registry=http://evil.example",
        "a@",
        "a@-1",
        "A",
        "node_modules",
        "a\x00b",
        ".hidden",
        "@team",
        "@team/",
        "@/a",
        "é",
        "a" * 215,
        "a@" + "1 " * 100,
    ],
)
def test_what_no_registry_keeps_under_a_version_is_refused(text: str) -> None:
    with pytest.raises(BadSpec):
        pinned(json.dumps({"plugins": [text]}))


@given(st.text(alphabet="0123456789.xX*^~<>=|- v+@/abz", max_size=100))
@example(f"a@1{'  1' * 33}!")
@example(f"a@{'1 || ' * 19}!")
@example(f"a@1.1.1{'-' * 90}!")
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(BadSpec):
        (found,) = pinned(json.dumps({"plugins": [text]}))
        assert pinned(json.dumps({"plugins": [str(found)]})) == (found,)


@pytest.mark.parametrize("name", ["git", "node", "npm", "constructor"])
def test_a_name_of_a_program_or_of_the_language_is_a_name(name: str) -> None:
    """Nothing of it is put on any path (tests/plugins/test_installing.py)."""
    assert listed(name)[0].name == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b a@2", "a is named twice"),
        (" ".join(f"p{number}" for number in range(MAX_PLUGINS + 1)), "more than 50 plugins"),
    ],
)
def test_a_list_is_refused_as_a_whole(text: str, words: str) -> None:
    with pytest.raises(BadSpec, match=words):
        listed(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"plugins": "a"}', '{"plugins": [1]}', '{"plugins": [], "x": 1}', "[" * 100_000, "\ud800"]
)
def test_a_file_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(BadSpec):
        pinned(text)
