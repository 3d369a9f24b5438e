"""What a sync does, decided from records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.gitops.git import Entry
from svc.gitops.model import Broken, Found, FrontMatter, Known, Plan, Written
from svc.gitops.naming import found
from svc.gitops.planning import NEVER_READ, file_id_of, plan, to_read, tree_of

Files = Mapping[str, str]
"""Name below ``pages/`` to text."""


def entries(files: Files) -> list[Found]:
    listed = [
        Entry(mode="100644", kind="blob", id=f"blob of {text}", size=len(text), name=name.encode())
        for name, text in files.items()
    ]
    return [one for entry in listed if (one := found(entry)) is not None]


def read(text: str) -> Written | Broken:
    if text.startswith("broken"):
        return Broken(reason="it is broken", line=2)
    title, _, body = text.rpartition("|")
    return Written(front=FrontMatter(title=title or None), body=body)


class Here:
    """The rows and pages of a workspace that follows, as applying a plan leaves them."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self.pages: dict[str, tuple[str, str]] = {}
        self.made = 0

    def sync(self, files: Files, similar: Mapping[str, str] | None = None) -> Plan:
        tree = tree_of(entries(files), self.known)
        texts = {one.file: read(files[one.file.removeprefix("pages/")]) for one in to_read(tree, self.known)}
        planned = plan(tree, self.known, texts, similar=similar)
        self.apply(planned)
        return planned

    def apply(self, planned: Plan) -> None:
        rows = dict(self.known)
        for row in planned.gone:
            del rows[row.file]
            self.pages.pop(row.page_id or "", None)
        moved = {new: rows.pop(old) for new, old in planned.renamed.items()}
        rows |= {new: replace(row, file=new) for new, row in moved.items()}
        puts = {put.file: put for put in planned.pages}
        for file, one in planned.found.items():
            row = rows.get(file) or Known(
                file=file,
                kind=one.kind,
                page_id=None,
                file_id=None,
                path=one.path,
                blob=None,
                seen_blob=one.blob,
                digest=NEVER_READ,
            )
            row = replace(row, seen_blob=one.blob)
            if (put := puts.get(file)) is not None:
                page_id = put.page_id or self.new_page()
                self.pages[page_id] = (put.path, put.body)
                row = replace(
                    row,
                    page_id=page_id,
                    path=put.path,
                    digest=put.digest,
                    title=put.title or put.path.rpartition("/")[2],
                )
            if file in planned.read or one.kind == "file":
                row = replace(row, blob=one.blob, problem=None)
            row = replace(row, path=one.path if one.problem is None else row.path if row.page_id else None)
            if one.kind == "file" and one.problem is None:
                row = replace(row, file_id=file_id_of(file))
            if (broken := planned.broken.get(file)) is not None:
                row = replace(row, problem=broken.reason, digest="" if one.problem else row.digest)
            rows[file] = row
        self.known = rows

    def new_page(self) -> str:
        self.made += 1
        return f"pag_{self.made}"

    def by_path(self) -> dict[str, str]:
        return {path: page_id for page_id, (path, _) in self.pages.items()}


def test_a_file_is_a_page_and_an_index_is_its_folder() -> None:
    here = Here()
    here.sync({"a.md": "A", "b/c.md": "C", "d/index.md": "D", "index.md": "I", "img/x.png": "X", ".keep": ""})
    assert {path for path, _ in here.pages.values()} == {"a", "b/c", "d", "index"}
    assert [row.file for row in here.known.values() if row.kind == "file"] == ["pages/img/x.png"]


def test_nothing_new_is_nothing_to_do() -> None:
    here = Here()
    here.sync({"a.md": "A", "x.png": "X"})
    again = here.sync({"a.md": "A", "x.png": "X"})
    assert (again.pages, again.files, again.gone, again.read) == ((), (), (), frozenset())


def test_only_what_changed_is_read() -> None:
    here = Here()
    files = {f"{number}.md": "text" for number in range(50)}
    here.sync(files)
    assert here.sync(files | {"7.md": "other"}).read == {"pages/7.md"}


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ({"a.md": "A"}, {"b.md": "A"}, "a", "b"),
        ({"a.md": "A"}, {"a/index.md": "quite another text"}, "a", "a"),
        ({"x/notes.md": "A", "o.md": "O"}, {"y/notes.md": "edited", "o.md": "O"}, "x/notes", "y/notes"),
        ({"a.md": "Plan|one"}, {"b.md": "Plan|another"}, "a", "b"),
        ({"a/x.md": "S", "b/y.md": "S"}, {"c/x.md": "S", "d/y.md": "S"}, "b/y", "d/y"),
        ({"a/1.md": "S", "a/2.md": "S"}, {"b/1.md": "S", "b/2.md": "S"}, "a/2", "b/2"),
    ],
)
def test_a_renamed_file_stays_the_same_page(before: Files, after: Files, old: str, new: str) -> None:
    here = Here()
    here.sync(before)
    page_id = here.by_path()[old]
    here.sync(after)
    assert here.by_path()[new] == page_id
    assert here.made == len(before)


def test_what_git_takes_for_renamed_is() -> None:
    here = Here()
    here.sync({"a.md": "One|x"})
    here.sync({"b.md": "Two|y"}, similar={"pages/a.md": "pages/b.md"})
    assert here.by_path() == {"b": "pag_1"}


def test_a_broken_file_keeps_its_last_good_version_and_the_rest_goes_on() -> None:
    here = Here()
    here.sync({"a.md": "A", "b.md": "B"})
    planned = here.sync({"a.md": "broken", "b.md": "B2"})
    assert planned.broken == {"pages/a.md": Broken(reason="it is broken", line=2)}
    assert sorted(here.pages.values()) == [("a", "A"), ("b", "B2")]
    assert here.sync({"a.md": "broken", "b.md": "B2"}).read == frozenset()
    assert here.sync({"a.md": "A", "b.md": "B2"}).broken == {}
    assert here.known["pages/a.md"].problem is None


def test_two_files_that_would_be_one_page_are_told() -> None:
    here = Here()
    planned = here.sync({"a.md": "1", "a/index.md": "2", "A.md": "3"})
    assert len(here.pages) == 1
    assert len(planned.broken) == 2
    assert "pages/A.md" in planned.broken["pages/a.md"].reason


def test_who_is_the_page_already_stays_it() -> None:
    here = Here()
    here.sync({"a/index.md": "2"})
    planned = here.sync({"a.md": "1", "a/index.md": "2"})
    assert set(planned.broken) == {"pages/a.md"}
    assert here.sync({"a.md": "1"}).broken == {}
    assert sorted(here.pages.values()) == [("a", "1")]


@pytest.mark.parametrize(
    ("mode", "kind", "name", "part"),
    [
        ("120000", "blob", b"a.md", "symbolic link"),
        ("160000", "commit", b"sub", "submodule"),
        ("100644", "blob", b"\xff.md", "UTF-8"),
        ("100644", "blob", b"../../x.md", "out of its folder"),
        ("100644", "blob", b"a\nb.md", "control characters"),
        ("100644", "blob", b"a\0b.md", "control characters"),
        ("100644", "blob", b"mail.md", "workspace's own"),
        ("100644", "blob", b"a" * 300 + b".md", "no path of a page"),
        ("100644", "blob", b"/".join([b"a"] * 40) + b".md", "no path of a page"),
        ("100644", "blob", "e\u0301.png".encode(), "composed"),
        ("040000", "tree", b"odd", "no plain file"),
    ],
)
def test_a_name_that_can_be_nothing_here_is_told(mode: str, kind: str, name: bytes, part: str) -> None:
    one = found(Entry(mode=mode, kind=kind, id="1", size=1, name=name))
    assert one is not None
    assert one.problem is not None
    assert part in one.problem
    assert one.file.isprintable()


def test_a_name_that_begins_with_a_dash_is_a_name() -> None:
    one = found(Entry(mode="100644", kind="blob", id="1", size=1, name=b"-rf.md"))
    assert one is not None
    assert (one.path, one.problem) == ("-rf", None)


names = st.sampled_from(
    ["a.md", "A.md", "a/index.md", "b.md", "b/c.md", "b/d.md", "x.png", "mail.md", "é.md", "e\u0301.md"]
)
texts = st.sampled_from(["one", "two", "T|one", "T|two", "broken", "broken too"])
trees = st.lists(st.dictionaries(names, texts, max_size=6), max_size=6)


@given(trees)
def test_whatever_is_pushed_each_good_file_is_one_page_and_no_page_is_two_files(pushes: Iterable[Files]) -> None:
    here = Here()
    for files in pushes:
        before = dict(here.known)
        here.sync(files)
        ids = [row.page_id for row in here.known.values() if row.page_id is not None]
        assert len(ids) == len(set(ids))
        assert set(ids) == set(here.pages)
        assert set(here.known) == {f"pages/{name}" for name in files}
        for file in here.known:
            good = file.endswith(".md") and here.known[file].problem is None
            name = file.removeprefix("pages/")
            if good:
                page_id = here.known[file].page_id
                assert page_id is not None
                text = read(files[name])
                assert isinstance(text, Written)
                assert here.pages[page_id][1] == text.body
            if file in before and before[file].page_id is not None:
                assert here.known[file].page_id == before[file].page_id
        paths = [path for path, _ in here.pages.values() if path]
        rows = here.known.values()
        good_paths = [row.path for row in rows if row.problem is None and row.kind == "page"]
        assert len(good_paths) == len(set(good_paths))
        assert set(good_paths) <= set(paths)
        here.sync(files)  # who has become the page of a clash is it from now on
        again = here.sync(files)
        assert (again.pages, again.gone, again.renamed) == ((), (), {})
