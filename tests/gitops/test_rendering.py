"""What an edit makes of the file that the page was."""

from __future__ import annotations

from typing import Any

import pytest

from svc.errors import Invalid
from svc.gitops.rendering import Links, file_of, rendered
from svc.pages.edits import EditedPage, Grants

LINKS = Links(
    addresses={"pages/team/img/a.png": "/files/fil_a/content", "pages/team/plan.md": "/p/team/plan"},
    files={"/files/fil_a/content": "pages/team/img/a.png", "/p/team/plan": "pages/team/plan.md"},
)
FILE = "---\ntitle: 'The plan' # ours\naccess: explicit\ngrants: # all\n- {to: everyone, level: read}\n---\n\nText\n"


def edited(path: str = "team/plan", *, was: str | None = "team/plan", base: str | None = FILE, **fields: Any) -> str:
    page = EditedPage(page_id="pag_1", was_path=was, path=path, **fields)
    was_file = None if was is None else f"pages/{was}.md"
    return rendered(page, base=base, was_file=was_file, file=f"pages/{path}.md", links_of=LINKS)


def everything(body: str, grants: Grants = (("everyone", "read"),)) -> dict[str, Any]:
    return {"title": "The plan", "body": body, "access": "explicit", "grants": grants}


def test_a_save_writes_the_text_and_leaves_what_the_file_says_already() -> None:
    assert edited(**everything("Text\n")) == FILE
    assert edited(**everything("Other\n")) == FILE.replace("Text", "Other")
    assert edited(title="A plan", body="Text\n") == FILE.replace("'The plan'", "'A plan'")


def test_another_sharing_changes_its_own_keys() -> None:
    grants = (("everyone", "read"), ("ole@example.org", "write"))
    assert edited(access="explicit", grants=grants) == FILE.replace(
        "grants: # all\n- {to: everyone, level: read}\n",
        'grants:\n  - to: everyone\n    level: read\n  - to: "ole@example.org"\n    level: write\n',
    )
    assert edited(access="inherited", grants=()) == "---\ntitle: 'The plan' # ours\naccess: inherited\n---\n\nText\n"


def test_a_new_page_is_a_file_with_what_its_name_does_not_say() -> None:
    page: dict[str, Any] = {"title": "plan", "body": "Text", "access": "inherited", "grants": ()}
    assert edited(was=None, base=None, **page) == "Text"
    assert edited(was=None, base=None, **{**page, "title": "A plan"}) == "---\ntitle: A plan\n---\n\nText"


def test_a_moved_file_keeps_its_links_and_a_title_that_was_its_name() -> None:
    text = "![a](img/a.png), [here](plan.md)\n"
    assert edited("team/old/plan", base=text) == "![a](../img/a.png), [here](../plan.md)\n"
    assert edited("team/other", base="text\n") == "---\ntitle: plan\n---\n\ntext\n"


def test_links_in_a_text_that_was_written_here_name_files_again() -> None:
    assert edited(body="[p](/p/team/plan#x) ![](/files/fil_a/content) [q](/p/q)").endswith(
        "[p](plan.md#x) ![](img/a.png) [q](/p/q)"
    )


def test_which_file_a_page_is() -> None:
    assert file_of("a/b", was=None) == "pages/a/b.md"
    assert file_of("c", was="pages/a/index.md") == "pages/c/index.md"
    for path in ("a/.b", "x" * 60 + "ä" * 120, "a/index"):
        with pytest.raises(Invalid):
            file_of(path, was=None)
