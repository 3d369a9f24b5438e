"""Tables of text, and the two statistics they hold."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Table:
    """``notes`` say what the numbers mean and what is missing."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        self.rows.append(cells)

    def text(self) -> str:
        """The first column to the left, numbers to the right."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.columns))]
        drawn = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "-" * max(map(len, drawn))
        return "\n".join([self.title, rule, drawn[0], rule, *drawn[1:], *(f"  {note}" for note in self.notes)])


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least ``percent`` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def ratio(value: float, of: float) -> str:
    return f"{value / of:.2f}"


def paired_ratio(values: Sequence[float], others: Sequence[float]) -> str:
    """The median of the rounds' own ratios: what else the machine did in a round, it did to both."""
    return ratio(median([value / other for value, other in zip(values, others, strict=True)]), 1.0)


def count(value: float) -> str:
    return f"{value:,.0f}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1_000:,.3f}"
