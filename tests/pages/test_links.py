"""Which links are found in the text of a page."""

from __future__ import annotations

from svc.pages.links import pages_in


def test_a_link_in_a_table_names_its_page_without_the_backslash_before_the_bar() -> None:
    assert pages_in("|a|\n|-|\n|[[harbour/plan\\|the plan]]|\n\n[[notes#part|x]] [[walls|y]]") == {
        "harbour/plan",
        "notes",
        "walls",
    }
