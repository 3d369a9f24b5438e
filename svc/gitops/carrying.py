"""Applies edits to a tree, one after the other: what each edit changes in the tree, or the conflict that stops it.

Theory. Each edit was made on the text that its page had here, and that text is in some blob: the *base*. The file in
the repository may have changed since the base as well. So each edit is a merge by lines of two changes of the base: the
edit's and the repository's. The next edit of the same page was made on the result here, not on the repository's: its
base is the text that the edit before made. If a merge has a conflict, the page waits, with all its later edits; every
other page goes on.

:class:`Work` holds a tree and what the edits of one round have changed in it so far. It writes nothing anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.errors import Invalid
from svc.gitops import naming
from svc.gitops.export_rows import Batch, InTheWay
from svc.gitops.git import Git
from svc.gitops.git.merging import merge
from svc.gitops.line_ends import as_it_was, in_lf
from svc.gitops.naming import ENDING, PAGES
from svc.gitops.rendering import file_of, rendered
from svc.nursery import ThreadPool
from svc.pages import Edit, EditedPage

BOTH_CHANGED: Final = "It was changed in the repository as well, in the same lines."
GONE_THERE: Final = "It was deleted in the repository, and changed here."
TAKEN_THERE: Final = "There is another file where it would be."
NO_TEXT: Final = "What is in the repository is no UTF-8 text, or too large for a page."

UNREADABLE: Final = b"\xff"
"""Stands for a content that was not read; like such a content, it is no UTF-8 text."""


@dataclass
class At:
    """The state of a page here after the edits so far. ``file`` and ``base`` (in LF): the file and text that the next
    edit was made on. ``raw``: the file's content without the changes that others made in the repository."""

    file: str | None
    base: str | None
    path: str | None = None
    raw: bytes | None = None
    seqs: list[int] = field(default_factory=list)


@dataclass
class Work:
    """``blobs``: the ids of the tree's blobs by file; ``contents``: by id, all that the batch needs."""

    git: Git
    threads: ThreadPool
    batch: Batch
    blobs: Mapping[str, str]
    contents: Mapping[str, bytes]
    changed: dict[str, bytes | None] = field(default_factory=dict)
    pages: dict[str, At] = field(default_factory=dict)
    in_the_way: dict[str, InTheWay] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._files_by_key = {naming.key_of(file): file for file in self.blobs}

    async def carry(self, edit: Edit, *, landed: bool, left: frozenset[str] = frozenset()) -> dict[str, bytes | None]:
        """What the edit changes in the tree. ``landed``: it is already in the repository, except for its pages
        ``left``."""
        changes: dict[str, bytes | None] = {}
        for page in sorted(edit.pages, key=lambda page: page.was_path or ""):
            if page.page_id in self.in_the_way:
                continue
            if landed and page.page_id not in left:
                self._has_landed(page)
            elif page.path is None:
                self._delete(page, changes)
            else:
                await self._write(page, changes)
            if page.page_id not in self.in_the_way:
                self._at(page).seqs.append(edit.seq)
        return changes

    def there(self, file: str) -> bytes | None:
        """The content of a file in the tree after the edits so far."""
        if file in self.changed:
            return self.changed[file]
        blob = self.blobs.get(file)
        return None if blob is None else self.contents.get(blob, UNREADABLE)

    def _at(self, page: EditedPage) -> At:
        if page.page_id not in self.pages:
            row = self.batch.standing.get(page.page_id)
            content = self.contents.get(row.blob) if row is not None and row.blob is not None else None
            base = None if content is None else in_lf(content.decode("utf-8", "replace"))
            self.pages[page.page_id] = At(file=None if row is None else row.file, base=base)
        return self.pages[page.page_id]

    def _delete(self, page: EditedPage, changes: dict[str, bytes | None]) -> None:
        """Delete the file only if it is unchanged since: else the page comes back with the next sync, and nothing is
        lost."""
        at = self._at(page)
        if at.file is not None:
            content = self.there(at.file)
            if content is not None and at.base is not None and in_lf(_text(content) or "\0") == at.base:
                self._change(changes, at.file, None)
        at.file, at.base, at.path, at.raw = None, None, None, None

    async def _write(self, page: EditedPage, changes: dict[str, bytes | None]) -> None:
        at = self._at(page)
        assert page.path is not None, "it is no deletion"
        try:
            file = file_of(page.path, was=at.file)
        except Invalid as error:
            self._wait(page, file=at.file or page.path, reason=error.detail, is_clash=True)
            return
        ours = rendered(page, base=at.base, was_file=at.file, file=file, links_of=self.batch.links)
        if file != at.file and self._taken(file, ours, but=at.file):
            self._wait(page, file=file, reason=TAKEN_THERE, is_clash=True)
            return
        content = b"" if at.file is None else self.there(at.file)
        if content is None:
            self._wait(page, file=at.file or file, reason=GONE_THERE)
            return
        text = _text(content)
        if text is None:
            self._wait(page, file=at.file or file, reason=NO_TEXT)
            return
        merged: str | None = ours
        if at.file is not None:
            merged = await self._merged(base=at.base, ours=ours, theirs=in_lf(text))
        if merged is None:
            self._wait(page, file=at.file or file, reason=BOTH_CHANGED)
            return
        if at.file is not None and at.file != file and self.there(at.file) is not None:
            self._change(changes, at.file, None)
        written = as_it_was(merged, before=text).encode()
        if written != self.there(file):
            self._change(changes, file, written)
        at.file, at.base, at.path, at.raw = file, ours, page.path, as_it_was(ours, before=text).encode()

    async def _merged(self, *, base: str | None, ours: str, theirs: str) -> str | None:
        if base is None:  # the text that the edit was made on is lost
            return ours if ours == theirs else None
        return await merge(self.git, self.threads, base=base, ours=ours, theirs=theirs)

    def _has_landed(self, page: EditedPage) -> None:
        at = self._at(page)
        if page.path is None:
            at.file, at.base, at.path, at.raw = None, None, None, None
            return
        try:
            file = file_of(page.path, was=at.file)
        except Invalid:
            return
        ours = rendered(page, base=at.base, was_file=at.file, file=file, links_of=self.batch.links)
        before = _text(self.there(file) or b"") or ""
        at.file, at.base, at.path, at.raw = file, ours, page.path, as_it_was(ours, before=before).encode()

    def _taken(self, file: str, ours: str, *, but: str | None) -> bool:
        """Whether another file has the place of this page, also on a disk that ignores case. A file with the same name
        and text does not count."""
        name = file.removesuffix(ENDING)
        rivals = {file, f"{name}/{naming.INDEX}{ENDING}", f"{name.removesuffix(f'/{naming.INDEX}')}{ENDING}"}
        rivals.discard(f"{PAGES}{ENDING}")
        for rival in rivals:
            spelled = self._files_by_key.get(naming.key_of(rival), rival)
            content = self.there(spelled)
            if content is not None and spelled != but and not (spelled == file and _text(content) == ours):
                return True
        return False

    def _change(self, changes: dict[str, bytes | None], file: str, content: bytes | None) -> None:
        changes[file] = self.changed[file] = content
        if content is not None:
            self._files_by_key.setdefault(naming.key_of(file), file)

    def _wait(self, page: EditedPage, *, file: str, reason: str, is_clash: bool = False) -> None:
        content = self.there(file)
        self.in_the_way[page.page_id] = InTheWay(
            page_id=page.page_id,
            file=file,
            reason=reason,
            is_clash=is_clash,
            there_blob=self.blobs.get(file),
            there_text=None if content is None else in_lf(content.decode("utf-8", "replace")),
        )


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
