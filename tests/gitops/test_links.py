"""Links between files are links between pages here, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.gitops.links import relative, shown, written

ADDRESSES = {
    "pages/a.md": "/p/a",
    "pages/team/b.md": "/p/team/b",
    "pages/team/img/p 1.png": "/files/fil_1/content",
    "pages/c.pdf": "/files/fil_2/content",
}
FILES = {address: file for file, address in ADDRESSES.items()}


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("![x](img/p%201.png)", "![x](/files/fil_1/content)"),
        ('[x](../c.pdf "The paper")', '[x](/files/fil_2/content "The paper")'),
        ("[x](../a.md#part) and [y](b.md)", "[x](/p/a#part) and [y](/p/team/b)"),
        ("[x]: ./b.md\n\n[x]", "[x]: /p/team/b\n\n[x]"),
        ("[x](<../c.pdf>)", "[x](</files/fil_2/content>)"),
    ],
)
def test_a_link_to_a_file_that_is_there_becomes_its_address(text: str, here: str) -> None:
    assert shown(text, file="pages/team/b.md", addresses=ADDRESSES) == here
    assert written(here, file="pages/team/b.md", files=FILES, before=text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://c.pdf)",
        "[x](/c.pdf)",
        "[x](gone.md)",
        "[x](#part)",
        "[x](../../../etc/passwd)",
        "a](b",
        "[[team/b]]",
    ],
)
def test_every_other_link_stays(text: str) -> None:
    assert shown(text, file="pages/team/b.md", addresses=ADDRESSES) == text


def test_a_new_link_is_written_as_the_forge_shows_it() -> None:
    text = "[x](/p/a) ![y](/files/fil_1/content)"
    assert written(text, file="pages/team/b.md", files=FILES) == "[x](../a.md) ![y](img/p%201.png)"


names = st.sampled_from(sorted(ADDRESSES))
spellings = st.sampled_from(["{}", "./{}", "{}#x", "{}?y"])
pieces = st.one_of(
    st.text(alphabet="a[]()#! \n:<>/", max_size=8),
    st.builds(
        lambda name, spelling: f"[t]({spelling.format(relative(name, file='pages/team/b.md'))})", names, spellings
    ),
)


@given(st.lists(pieces, max_size=8).map("".join))
def test_what_is_shown_can_be_written_back(text: str) -> None:
    here = shown(text, file="pages/team/b.md", addresses=ADDRESSES)
    back = written(here, file="pages/team/b.md", files=FILES, before=text)
    assert shown(back, file="pages/team/b.md", addresses=ADDRESSES) == here
