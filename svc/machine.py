"""A state machine as data: its states, and one table of transitions by event.

Owns :class:`Machine`. Pure: the one function of a feature that moves a row asks :meth:`Machine.after` for the next
state and writes it. ``svc/generate.py`` draws each machine of the features into ``docs/states.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

S = TypeVar("S", bound=str)
E = TypeVar("E", bound=str)


class ForbiddenTransition(Exception):
    """The table has no such transition: a bug of the caller."""


@dataclass(frozen=True)
class Transition(Generic[S, E]):
    """One event: the states in which it may happen, the state after it, and its description for the docs."""

    event: E
    sources: tuple[S, ...]
    target: S | None
    """``None``: the state does not change."""
    when: str


@dataclass(frozen=True, kw_only=True)
class Machine(Generic[S, E]):
    """``states`` have the order of the docs; ``initial`` are the states in which a row begins."""

    name: str
    states: tuple[S, ...]
    initial: tuple[S, ...]
    transitions: tuple[Transition[S, E], ...]

    def __post_init__(self) -> None:
        events = [one.event for one in self.transitions]
        if len(events) != len(set(events)):
            raise ValueError(f"{self.name}: an event stands twice in the table")
        named = {*self.initial, *(state for pair, after in self.table.items() for state in (pair[0], after))}
        if named != set(self.states):
            raise ValueError(f"{self.name}: the table and the list of states differ in {named ^ set(self.states)}")

    @cached_property
    def table(self) -> Mapping[tuple[S, E], S]:
        """The state after each event in each state that allows it."""
        return {
            (source, one.event): source if one.target is None else one.target
            for one in self.transitions
            for source in one.sources
        }

    def allows(self, state: S, event: E) -> bool:
        return (state, event) in self.table

    def after(self, state: S, event: E) -> S:
        """The state after ``event``. Raises :class:`ForbiddenTransition`."""
        try:
            return self.table[state, event]
        except KeyError:
            raise ForbiddenTransition(f"{self.name}: {event} can't happen while {state}") from None

    def sources(self, event: E) -> frozenset[S]:
        """The states in which ``event`` may happen."""
        return frozenset(state for state, one in self.table if one == event)


AnyMachine = Machine[Any, Any]
"""For lists of machines, because each machine has its own types of states and events."""
