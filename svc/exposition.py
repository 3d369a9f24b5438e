"""Writes the text format that Prometheus reads (exposition format 0.0.4). Pure: it knows only numbers and
their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from svc.durations import Durations

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Values = Mapping[tuple[str, ...], float | Durations]
"""Keyed by the values of the labels, in the order of the labels; ``()`` if there are none."""


class Named(Protocol):
    """The description of a metric, without its values."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def help(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


def text_of(read: Sequence[tuple[Named, Values]]) -> str:
    return "".join(f"{line}\n" for metric, values in read for line in _lines(metric, values))


def _lines(metric: Named, values: Values) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in sorted(values.items()):
        named = list(zip(metric.labels, labels, strict=True))
        if isinstance(value, Durations):
            yield from _histogram(metric.name, named, value)
        else:
            yield _line(metric.name, named, value)


def _histogram(name: str, named: list[tuple[str, str]], durations: Durations) -> Iterator[str]:
    for bound_s, count in durations.upto():
        yield _line(f"{name}_bucket", [*named, ("le", _number(bound_s))], count)
    yield _line(f"{name}_sum", named, durations.total_s)
    yield _line(f"{name}_count", named, durations.count)


def _line(name: str, named: Sequence[tuple[str, str]], value: float) -> str:
    labels = ",".join(f'{label}="{_escaped(said)}"' for label, said in named)
    return f"{name}{{{labels}}} {_number(value)}" if labels else f"{name} {_number(value)}"


def _escaped(said: str) -> str:
    return said.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return "+Inf" if value == float("inf") else str(int(value)) if value == int(value) else repr(float(value))
