"""One test that looks at many things, and tells of each that fails. A test of its own costs more than such a look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def each(
    things: Sequence[T], *, called: Callable[[T], str] = str
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Decorate ``def test_…(thing)``: the test is said of all ``things``. There must be some."""

    def decorate(holds_of: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            assert things, "there is nothing to look at"
            assert dict(_failures(holds_of, things, called)) == {}

        test.__name__, test.__doc__ = holds_of.__name__, holds_of.__doc__
        return test

    return decorate


@contextmanager
def named(thing: object) -> Iterator[None]:
    """For a test that looks at one thing after another by itself: what fails within tells of which."""
    try:
        yield
    except BaseException as failure:  # also pytest's own, of what was not raised
        failure.add_note(f"It failed with {thing!r}.")
        raise


def each_file(paths: Sequence[Path], *, below: Path) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """The same of files, called by their place below a folder."""
    return each(paths, called=partial(_place, below))


def _place(below: Path, path: Path) -> str:
    return path.relative_to(below).as_posix()


def _failures(
    holds_of: Callable[[T], None], things: Iterable[T], called: Callable[[T], str]
) -> Iterable[tuple[str, str]]:
    for thing in things:
        try:
            holds_of(thing)
        except AssertionError as failure:
            yield called(thing), str(failure)
