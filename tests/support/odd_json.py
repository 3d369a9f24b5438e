"""JSON with something else in one place, as from a server that only looks like the one that is expected."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

ODD: Final = st.recursive(
    st.sampled_from([None, True, 5, -1.5, 10**30, "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "0"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def with_odd(document: Any, data: st.DataObject) -> Any:
    """The document, with one of its values replaced by another kind of value."""
    return _replaced(document, data.draw(st.sampled_from(_places(document))), data.draw(ODD))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, part in inner for one in _places(part, (*path, key)))]


def _replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], odd)
    return copy
