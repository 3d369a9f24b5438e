"""Vectors as bytes, and the scan over many of them with numpy. numpy is an extra, and is loaded when the first vector
is used.

Theory. Each vector is stored twice: as the signs of its numbers, and with one signed byte per number. The signs need an
eighth of the bytes, and the number of signs that differ between two vectors follows the angle between them (Charikar
2002). So all signs are scanned in memory, and only the nearest :data:`RESCORED` are compared by their bytes. That
result differs from the cosine of the original vectors by less than one in a hundred. Up to that many vectors the answer
is exact.

Runs in threads; knows neither SQL nor permissions.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESCORED: Final = 4_000
"""Vectors that are compared by more than their signs. Beyond: those whose signs differ most are passed by."""
AT_A_TIME: Final = 65_536
"""Vectors in one step of the scan, so that its extra memory stays small."""
_WORD_BITS: Final = 64
MISSING: Final = "Search by meaning needs numpy: install svc with its extra, as in pipx install 'svc[meaning]'."


def has_numpy() -> bool:
    return importlib.util.find_spec("numpy") is not None


def packed(vector: Sequence[float]) -> tuple[bytes, bytes]:
    """The signs, padded to whole words of 64 bits, and the bytes."""
    import numpy as np

    numbers = np.asarray(vector, dtype=np.float32)
    largest = float(np.abs(numbers).max()) or 1.0
    signs = np.zeros(-(-len(numbers) // _WORD_BITS) * _WORD_BITS, dtype=bool)
    signs[: len(numbers)] = numbers > 0
    return np.packbits(signs).tobytes(), np.rint(numbers / largest * 127).astype(np.int8).tobytes()


@dataclass(frozen=True)
class Signs:
    """The signs of many vectors, in the order of their ids."""

    ids: NDArray[np.int64]
    bits: NDArray[np.uint64]
    """One row of words per vector."""

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self.ids.nbytes + self.bits.nbytes)

    @property
    def last(self) -> int:
        return int(self.ids[-1]) if len(self.ids) else 0

    def with_more(self, rows: Sequence[tuple[Any, ...]]) -> Signs:
        """``rows``: later ids and their signs. Rows of another length do not have this form, and are skipped."""
        import numpy as np

        width = self.bits.shape[1] * 8 if len(self.ids) else len(rows[0][1]) if rows else 0
        fitting = [row for row in rows if len(row[1]) == width]
        if not fitting:
            return self
        ids = np.fromiter((row[0] for row in fitting), dtype=np.int64, count=len(fitting))
        bits = np.frombuffer(b"".join(row[1] for row in fitting), dtype=np.uint64).reshape(len(fitting), -1)
        if not len(self.ids):
            return Signs(ids, bits)
        return Signs(np.concatenate((self.ids, ids)), np.concatenate((self.bits, bits)))


def no_signs() -> Signs:
    import numpy as np

    return Signs(np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.uint64))


def nearest(parts: Sequence[tuple[Signs, Sequence[int] | None]], bits: bytes, *, most: int = RESCORED) -> list[int]:
    """The ids of the vectors whose signs differ least from ``bits``. In a part with a list of ids, only these count."""
    import numpy as np

    wanted = np.frombuffer(bits, dtype=np.uint64)
    ids: list[NDArray[np.int64]] = []
    differing: list[NDArray[np.uint16]] = []
    for signs, allowed in parts:
        if not len(signs.ids) or signs.bits.shape[1] != len(wanted):
            continue
        counts = np.zeros(len(signs.ids), dtype=np.uint16)
        for start in range(0, len(counts), AT_A_TIME):
            some = signs.bits[start : start + AT_A_TIME]
            for word, bits_of_word in enumerate(wanted):  # column by column: sums along such short rows are slow
                counts[start : start + AT_A_TIME] += np.bitwise_count(some[:, word] ^ bits_of_word)
        if allowed is not None:
            may = np.isin(signs.ids, np.fromiter(allowed, dtype=np.int64, count=len(allowed)))
            ids.append(signs.ids[may])
            differing.append(counts[may])
        else:
            ids.append(signs.ids)
            differing.append(counts)
    if not ids:
        return []
    all_ids, all_counts = np.concatenate(ids), np.concatenate(differing)
    if len(all_ids) > most:
        all_ids = all_ids[np.argpartition(all_counts, most)[:most]]
    return [int(one) for one in all_ids]


def cosines(vectors: Sequence[bytes], wanted: Sequence[float]) -> list[float]:
    """How similar each is, from -1 to 1."""
    import numpy as np

    if not vectors:
        return []
    query = np.asarray(wanted, dtype=np.float32)
    rows = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(vectors), -1).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1) * float(np.linalg.norm(query))
    return [float(one) for one in (rows @ query) / np.where(lengths > 0, lengths, 1.0)]
