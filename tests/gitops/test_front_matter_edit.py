"""A file's front matter is changed by lines: what was not meant to change is, to the byte, what it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.gitops.front_matter_edit import END, HEAD, HIDDEN, parse, quoted, shown, with_body, with_key, with_value
from svc.gitops.line_ends import as_it_was, in_lf
from tests.sizes import examples

FILE = """---
# whom to ask: Ruth
title: "The plan"   # short
order: 3
due: 2026-11-23
grants:
- to: everyone   # all of us
  level: read
when:
  from: '*@harbour.example'
# the end
---

# Plan
"""


def test_the_body_has_all_keys_but_the_fields_of_a_page() -> None:
    assert shown(FILE) == (
        "---\norder: 3\ndue: 2026-11-23\nwhen:\n  from: '*@harbour.example'\n# the end\n---\n\n# Plan\n"
    )
    assert shown("---\ntitle: A\n---\n\ntext\n") == "text\n"
    assert shown("no block\n---\n") == "no block\n---\n"


def test_a_changed_text_leaves_the_block_to_the_byte() -> None:
    body = shown(FILE)
    assert with_body(FILE, body) == FILE
    assert with_body(FILE, body.replace("# Plan", "# The plan")) == FILE.replace("# Plan", "# The plan")
    assert with_body("---\ntitle: A\n---\n\ntext\n", "other") == "---\ntitle: A\n---\n\nother"
    assert with_body("---\ntitle: A\n---", "other") == "---\ntitle: A\n---\nother"


def test_a_changed_key_of_the_body_leaves_the_hidden_ones_where_they_were() -> None:
    body = shown(FILE)
    assert with_body(FILE, body.replace("order: 3", "order: 4")) == FILE.replace("order: 3", "order: 4")
    added = with_body(FILE, body.replace("order: 3\n", "order: 3\nask: 'who?'\n"))
    assert added.replace("ask: 'who?'\n", "") == FILE
    gone = with_body(FILE, body.replace("order: 3\ndue: 2026-11-23\n", ""))
    assert parse(gone).entries is not None
    assert [entry.key for entry in parse(gone).entries or ()] == ["title", "grants", "when", END]
    assert with_body(FILE, "just text").endswith("  level: read\n---\n\njust text")


def test_one_key_is_set_in_the_quotes_and_with_the_comment_it_had() -> None:
    assert with_value(FILE, "title", "New: plan") == FILE.replace('"The plan"', '"New: plan"')
    assert with_value("---\ntitle: 'a'\n---\n", "title", "it's") == "---\ntitle: 'it''s'\n---\n"
    assert with_value("---\ntitle: a # b\n---\n", "title", "c") == "---\ntitle: c # b\n---\n"
    assert with_value("---\ntitle: >\n  long\n  one\nx: 1\n---\n", "title", "c") == "---\ntitle: c\nx: 1\n---\n"
    assert with_value("text", "title", "c") == "---\ntitle: c\n---\n\ntext"
    assert with_value("---\nx: 1\n---\ntext", "title", "c") == "---\nx: 1\ntitle: c\n---\ntext"


def test_a_key_goes_with_its_lines_and_nothing_else() -> None:
    lines = ["grants:\n", "  - {to: everyone, level: write}\n"]
    assert with_key(FILE, "grants", lines) == FILE.replace(
        "grants:\n- to: everyone   # all of us\n  level: read\n", "".join(lines)
    )
    assert with_key(FILE, "grants", None) == FILE.replace("grants:\n- to: everyone   # all of us\n  level: read\n", "")
    assert with_key("---\ntitle: a\n---\n\ntext", "title", None) == "text"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("A plan", "A plan"),
        ("yes", '"yes"'),
        ("2026-11-23", '"2026-11-23"'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("- a", '"- a"'),
        ("Grüße", '"Grüße"'),
        ("", '""'),
        ("[x]", '"[x]"'),
        ('say "hi"', '"say \\"hi\\""'),
    ],
)
def test_what_yaml_would_read_as_more_than_text_is_quoted(value: str, written: str) -> None:
    assert quoted(value) == written


def test_a_text_that_begins_like_a_block_is_kept_apart_from_one() -> None:
    break_and_heading = "---\nHello there\n---\n"
    assert shown(break_and_heading) == break_and_heading
    assert with_body("old", break_and_heading) == break_and_heading


LINES = st.sampled_from(
    ["---", "title: a", "# why", "x: 1", "y:", "- z", "  deep: 1", "", "text", "grants: []", "...", "'k': v", "]"]
)
FILES = st.lists(LINES, max_size=12).map("\n".join) | st.lists(LINES, max_size=8).map(
    lambda lines: "\n".join(["---", *lines, "---", "text", ""])
)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(FILES, FILES)
def test_what_is_written_shows_as_the_body_that_was_meant(file: str, body: str) -> None:
    assert with_body(file, shown(file)) == file
    written = with_body(file, body)
    meant = parse(body)
    keys = {entry.key for entry in meant.entries or ()}
    if meant.entries is not None and (keys & HIDDEN or not keys - {HEAD, END}):
        return  # fields of the page do not stand in a body, and neither does a block without any key
    there = {entry.key for entry in parse(file).entries or ()}
    if keys and there & {HEAD, END} and not there - HIDDEN - {HEAD, END}:
        return  # comments that stood between fields only are shown with the first key beside them
    if body.startswith("\n") and meant.entries is None:
        return  # blank lines at the head of a text are the block's end
    assert shown(written) == body
    before, after = parse(file).entries or (), parse(written).entries or ()
    hidden, kept = ([entry for entry in entries if entry.key in HIDDEN] for entries in (before, after))
    assert sorted(kept, key=lambda entry: entry.lines) == sorted(hidden, key=lambda entry: entry.lines)
    shared = [[entry.key for entry in entries if entry.key in keys - {HEAD, END}] for entries in (before, after)]
    if shared[0] == [key for key in shared[1] if key in shared[0]]:
        assert kept == hidden  # where keys change places, what stood behind each goes with it


def test_what_stands_behind_a_key_goes_with_it() -> None:
    file = "---\n'k': v\ntitle: a\nx: 1\ngrants: []\n---\ntext\n"
    body = "---\nx: 1\n'k': v\n---\ntext\n"
    assert with_body(file, body) == "---\nx: 1\ngrants: []\n'k': v\ntitle: a\n---\ntext\n"


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(["a", "b", ""]), max_size=6), st.data())
def test_line_ends_and_mark_come_back(lines: list[str], data: st.DataObject) -> None:
    ends = [data.draw(st.sampled_from(["\n", "\r\n"])) for _ in lines]
    file = data.draw(st.sampled_from(["", "\ufeff"])) + "".join(a + b for a, b in zip(lines, ends, strict=True))
    assert as_it_was(in_lf(file), before=file) == file
    changed = "\n".join(data.draw(st.lists(st.sampled_from(["a", "c"]), max_size=6)))
    assert in_lf(as_it_was(changed, before=file)) == changed
    if "\r" in file and len(set(ends)) == 1:
        assert as_it_was(changed, before=file).count("\r\n") == changed.count("\n")
