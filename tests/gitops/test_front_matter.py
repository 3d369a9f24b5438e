"""The head of a page's file: read strictly, refused with the line."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.gitops.front_matter import MAX_BYTES, Refused, front_matter, head_of
from svc.gitops.model import FrontMatter


def refused(text: str) -> tuple[str, int | None]:
    with pytest.raises(Refused) as caught:
        front_matter(text)
    return caught.value.broken.reason, caught.value.broken.line


def test_a_page_says_its_title_access_grants_and_tags() -> None:
    text = (
        "---\ntitle: Our team\naccess: explicit\ngrants:\n  - {to: everyone, level: read}\n"
        "  - to: Noa@example.org\n    level: write\ntags: [a, b, a]\nreviewed: 2026-01-01\n---\n# Hello\n"
    )
    assert front_matter(text) == FrontMatter(
        title="Our team",
        access="explicit",
        grants=(("everyone", "read"), ("noa@example.org", "write")),
        tags=("a", "b"),
        grants_line=5,
    )
    assert text[head_of(text)[1] :] == "# Hello\n"


@pytest.mark.parametrize("text", ["", "# Hello", "---", "----\na: b\n---\n", "\n---\na: b\n---\n"])
def test_a_page_need_not_say_anything(text: str) -> None:
    assert front_matter(text) == FrontMatter()
    assert head_of(text) == ("", 0)


@pytest.mark.parametrize("head", ["", "# only a comment\n", "\n\n"])
def test_an_empty_head_says_nothing(head: str) -> None:
    assert front_matter(f"---\n{head}---\nText") == FrontMatter()


def test_a_scalar_is_the_text_that_stands_there() -> None:
    assert front_matter("---\ntitle: 2024-01-01\n---\n").title == "2024-01-01"
    assert front_matter("---\ntitle: no\ntags: [1e3, 0x1F, null]\n---\n").tags == ("1e3", "0x1F", "null")
    assert front_matter("---\ntitle: |\n  Two\n---\n").title == "Two"


def test_grants_make_a_page_explicit() -> None:
    assert front_matter("---\ngrants: [{to: everyone, level: read}]\n---\n").access == "explicit"


@pytest.mark.parametrize(
    ("text", "part", "line"),
    [
        ("---\ntitle: a\n", "does not end", 1),
        (f"---\ntitle: {'x' * (MAX_BYTES + 10)}\n---\n", "does not end", 1),
        ("---\na: &x [1]\nb: *x\n---\n", "anchor", 2),
        ("---\nb: *x\n---\n", "alias", 2),
        ("---\ntitle: !!python/object/apply:os.system [ls]\n---\n", "tag", 2),
        ("---\ntitle: !x y\n---\n", "tag", 2),
        ("---\ntitle: a\ntitle: b\n---\n", "said twice", 3),
        ("---\ntitle: [a\n---\n", "no YAML", 3),
        ("---\n\ttitle: a\n---\n", "no YAML", 2),
        ("---\ntitle: \x07\n---\n", "no YAML", 1),
        ("---\ntitle: [a]\n---\n", "title must be a text", 2),
        ("---\n- a\n---\n", "no mapping", 2),
        ("---\n? [a]\n: b\n---\n", "key must be", 2),
        ("---\naccess: public\n---\n", "inherited or explicit", 2),
        ("---\ntitle: a\ngrants: everyone\n---\n", "must be a list", 3),
        ("---\ngrants: [{to: everyone}]\n---\n", "a grant is", 2),
        ("---\ngrants: [{to: everyone, level: own}]\n---\n", "level", 2),
        ("---\ngrants: [{to: somebody, level: read}]\n---\n", "address", 2),
        ("---\ngrants:\n- {to: everyone, level: read}\n- {to: everyone, level: write}\n---\n", "twice", 4),
        ("---\naccess: inherited\ngrants: [{to: everyone, level: read}]\n---\n", "explicit only", 3),
        ("---\ntags: [{a: b}]\n---\n", "a tag must be a text", 2),
        ("---\ntags: " + "[" * 50 + "]" * 50 + "\n---\n", "too deeply", 2),
        ("---\nx: [" + "a," * 3_000 + "]\n---\n", "too many parts", 2),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, part: str, line: int) -> None:
    reason, where = refused(text)
    assert part in reason
    assert where == line


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    assert "anchor" in refused("---\n" + "\n".join(lines) + "\n---\n")[0]


@given(st.text(max_size=200))
def test_whatever_stands_there_is_read_or_refused(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n"):
        with suppress(Refused):
            front_matter(whole)
