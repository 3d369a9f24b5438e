"""A second opinion on the QR codes that the app draws: reads one by ISO/IEC 18004, trusting nothing of the encoder.

Theory. A symbol of version v has 17 + 4 v modules a side. Fixed patterns (finders, timing, alignment) are no data;
fifteen format bits beside the first finder tell level and mask. The data bits run upwards and downwards in columns two
wide, from the right, past the timing column; where the mask says so they are inverted. Then come mode, length and text.

It reads versions 1 to 3 at level M, which have one block, and repairs nothing: a screen has no dirt on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

Modules = list[list[bool]]

ALPHANUMERIC: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
LEVEL_M: Final = 0b00
FORMAT_MASK: Final = 0b101010000010010
MASKS: Final[list[Callable[[int, int], bool]]] = [
    lambda y, x: (y + x) % 2 == 0,
    lambda y, x: y % 2 == 0,
    lambda y, x: x % 3 == 0,
    lambda y, x: (y + x) % 3 == 0,
    lambda y, x: (y // 2 + x // 3) % 2 == 0,
    lambda y, x: y * x % 2 + y * x % 3 == 0,
    lambda y, x: (y * x % 2 + y * x % 3) % 2 == 0,
    lambda y, x: ((y + x) % 2 + y * x % 3) % 2 == 0,
]


def read(modules: Modules) -> str:
    """The text of a symbol, given without its quiet zone."""
    size = len(modules)
    assert size in {21, 25, 29}, f"no symbol of version 1 to 3: {size}"
    assert all(len(row) == size for row in modules), "it is not square"
    mask = _mask(modules)
    bits = iter([modules[y][x] ^ MASKS[mask](y, x) for y, x in _path(size)])
    mode = _number(bits, 4)
    if mode == 0b0010:
        return "".join(_alphanumeric(bits, _number(bits, 9)))
    assert mode == 0b0100, f"mode {mode:04b} is not read here"
    return bytes(_number(bits, 8) for _ in range(_number(bits, 8))).decode()


def _mask(modules: Modules) -> int:
    """From the format bits beside the first finder, most significant first."""
    places = [(8, x) for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [(y, 8) for y in (7, 5, 4, 3, 2, 1, 0)]
    word = 0
    for y, x in places:
        word = word << 1 | modules[y][x]
    word ^= FORMAT_MASK
    assert word >> 13 == LEVEL_M, "another level of error correction"
    assert _remainder(word) == 0, "the format bits are no code word"
    return word >> 10 & 0b111


def _remainder(word: int) -> int:
    """Of the division by the generator of the BCH(15, 5) code."""
    for shift in range(4, -1, -1):
        if word >> (shift + 10) & 1:
            word ^= 0b10100110111 << shift
    return word


def _path(size: int) -> Iterator[tuple[int, int]]:
    upwards = True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for step in range(size):
            y = size - 1 - step if upwards else step
            yield from ((y, x) for x in (right, right - 1) if not _is_fixed(y, x, size))
        upwards = not upwards


def _is_fixed(y: int, x: int, size: int) -> bool:
    finder = (y < 9 and x < 9) or (y < 9 and x >= size - 8) or (y >= size - 8 and x < 9)
    alignment = size > 21 and abs(y - (size - 7)) <= 2 and abs(x - (size - 7)) <= 2
    return finder or alignment or y == 6 or x == 6


def _alphanumeric(bits: Iterator[bool], length: int) -> Iterator[str]:
    for _ in range(length // 2):
        pair = _number(bits, 11)
        yield ALPHANUMERIC[pair // 45] + ALPHANUMERIC[pair % 45]
    if length % 2:
        yield ALPHANUMERIC[_number(bits, 6)]


def _number(bits: Iterator[bool], width: int) -> int:
    value = 0
    for _ in range(width):
        value = value << 1 | next(bits)
    return value
