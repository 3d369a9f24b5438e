"""What a path may be, and what a body links to."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import Invalid
from svc.pages.links import MAX_LINKS, files_in, pages_in
from svc.pages.model import MAX_DEPTH, MAX_PATH_BYTES, MAX_SEGMENT_CHARS, new_page_path, page_path, paths_above

any_text = st.text(st.characters() | st.sampled_from("/. \u0301\u202e\u2066\u2028\0\ud800"), max_size=40)


@given(any_text)
def test_a_path_has_one_spelling_that_stays_as_it_is(text: str) -> None:
    try:
        path = page_path(text)
    except Invalid:
        return
    assert page_path(path) == path
    assert unicodedata.is_normalized("NFC", path)
    segments = path.split("/")
    assert 1 <= len(segments) <= MAX_DEPTH
    assert all(segment == segment.strip() and segment not in ("", ".", "..") for segment in segments)
    assert all(len(segment) <= MAX_SEGMENT_CHARS for segment in segments)
    assert len(path.encode()) <= MAX_PATH_BYTES


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a/b/c", "a/b/c"),
        (" a / b\t", "a/b"),
        ("cafe\u0301", "caf\u00e9"),
        ("Été 2026/Größe & Co. (1)", "Été 2026/Größe & Co. (1)"),
        ("...", "..."),
        ("家/👩\u200d👧", "家/👩\u200d👧"),  # the joiner in a family is no control character
        ("x" * 200, "x" * 200),
        ("/".join("x" * 16), "/".join("x" * 16)),
        ("/".join(["x" * 199] * 5), "/".join(["x" * 199] * 5)),
    ],
)
def test_what_may_be_a_path(text: str, path: str) -> None:
    assert page_path(text) == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "/",
        "/a",
        "a/",
        "a//b",
        "a/ /b",
        ".",
        "a/../b",
        "a/ .. /b",
        "a\0b",
        "a\nb",
        "a\x7fb",
        "a\x85b",
        "a\u2028b",
        "a\u202eb",
        "a\u2067b",
        "a\ud800b",
        "x" * 201,
        "/".join("x" * 17),
        "/".join(["x" * 200] * 5),
        "/".join(["é" * 100] * 6),
    ],
)
def test_what_may_not_be_a_path(text: str) -> None:
    with pytest.raises(Invalid):
        page_path(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mail-rules/a\u200bb", "U+200B (ZERO WIDTH SPACE)"),
        ("a\u200eb", "U+200E (LEFT-TO-RIGHT MARK)"),
        ("a\u00adb", "U+00AD (SOFT HYPHEN)"),
        ("a\u200db/c", "U+200D (ZERO WIDTH JOINER)"),
        ("a/\U000e0041", "U+E0041 (TAG LATIN CAPITAL LETTER A)"),
        ("a/\u3164", "U+3164 (HANGUL FILLER)"),
        ("a\u2064b\u200b", "U+2064 (INVISIBLE PLUS)"),
    ],
)
def test_a_new_path_has_no_invisible_characters_and_the_refusal_names_the_one(text: str, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        new_page_path(text)
    assert name in refused.value.detail
    assert page_path(text) == text, "a page may be there since before they were refused"


@pytest.mark.parametrize("text", ["家/👩\u200d👧", "می\u200cخواهم", "क\u094d\u200dष", "❤\ufe0f", "a b/c"])
def test_a_new_path_may_hold_what_belongs_to_its_writing(text: str) -> None:
    assert new_page_path(text) == text


def test_the_ancestors_of_a_path_come_nearest_first() -> None:
    assert paths_above("a/b/c") == ["a/b", "a"]
    assert paths_above("a") == []


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("See [[a/b]], [[ c | the c ]] and [[d#part]].", {"a/b", "c", "d"}),
        ("[x](/p/a/b) [y](</p/c>) /p/d?x=1 /p/e#f", {"a/b", "c", "d", "e"}),
        ("[x](/p/caf%C3%A9/a%20b/) [y]: /p/g", {"café/a b", "g"}),
        ("https://evil.example/p/a x/p/b ./p/c //p/d", set()),
        ("[[]] [[a//b]] [[../x]] [[a\nb]] /p/ /p/%00 /p/a%2F%2Fb", set()),
        ("[[[[a]] b]] [[x]][[y]]", {"a", "x", "y"}),
        ("/p/a%FFb", {"a\ufffdb"}),
    ],
)
def test_the_pages_that_a_body_links_to(body: str, paths: set[str]) -> None:
    assert pages_in(body) == paths


@pytest.mark.parametrize(
    ("body", "files"),
    [
        ("![x](/files/fil_1/content) [y](/files/fil_2/content?a) /files/fil_3/content", {"fil_1", "fil_2", "fil_3"}),
        ("https://evil.example/files/fil_1/content /files/fil_2/contents /files/../content /files/a/b/content", set()),
    ],
)
def test_the_files_that_a_body_shows(body: str, files: set[str]) -> None:
    assert files_in(body) == files


@given(any_text)
def test_a_link_to_any_path_is_found_again(text: str) -> None:
    try:
        path = page_path(text)
    except Invalid:
        return
    if not set(path) & set("[]|#"):
        assert pages_in(f"[[{path}]]") == {path}


@pytest.mark.thorough
def test_a_hostile_body_is_read_in_time_that_grows_with_its_length_only() -> None:
    many = " ".join(f"[[p{number}]]" for number in range(3 * MAX_LINKS))
    assert len(pages_in(many)) == MAX_LINKS
    for piece in ("[[", "[[a", "/p/", "/p/a", "/files/", "/files/a", " /p/%", "[[a|", "("):
        pages_in(piece * (1024 * 1024 // len(piece)))
        files_in(piece * (1024 * 1024 // len(piece)))
