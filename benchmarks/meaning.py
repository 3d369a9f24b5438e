"""Search by meaning over many vectors: what one search costs, in which memory, and how much of the exact answer it has.

The vectors lie in clusters, as those of real mail do; searched for is what lies about a centre. ``exact`` is the
product of all vectors with the one that is searched for, by numpy in memory: what a scan of whole vectors would cost at
the least. ``SVC_BENCH_VECTORS`` sets how many there are.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from benchmarks.broker import opened
from benchmarks.report import Table, count, median, milliseconds, percentile, ratio
from svc.meaning.finding import Finder
from svc.meaning.form import form_of
from svc.principal import UNCLAIMED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTORS: Final = 1_000_000
QUICK_VECTORS: Final = 100_000
DIMENSIONS: Final = 512
A_CLUSTER: Final = 200
SPREAD: Final = 0.05
"""Of the noise about a cluster's centre, a dimension: vectors of one cluster have a cosine of some 0.45."""
SEARCHES: Final = 30
TOP: Final = 10
AT_A_TIME: Final = 20_000
SPACE: Final = "acc_measured"


def run(quick: bool) -> Iterable[Table]:
    vectors = int(os.environ.get("SVC_BENCH_VECTORS") or (QUICK_VECTORS if quick else VECTORS))
    yield trio.run(_measured, vectors)


async def _measured(vectors: int) -> Table:
    table = Table(
        title=f"Search by meaning over {count(vectors)} vectors of {DIMENSIONS} dimensions",
        columns=("way", "p50 ms", "p95 ms", "x exact", f"of the exact {TOP}", "in memory, MiB"),
    )
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "home"
        async with opened(home) as workspace:
            form = form_of(workspace).name
        (database,) = (home / "db").glob("svc.sqlite3")
        matrix, wanted = _filled(database, vectors, form=form)
        exact_s, exact = _exact(matrix, wanted)
        async with opened(home) as workspace:
            finder = workspace.service(Finder)
            found: list[set[str]] = []
            times: list[float] = []
            for vector in (wanted[0], *wanted):
                began = time.perf_counter()
                near = await workspace.store.read(
                    finder.scan, UNCLAIMED, vector, spaces=[SPACE], form=form, current=form
                )
                times.append(time.perf_counter() - began)
                found.append(set(near.message_ids[:TOP]))
            held = finder.held_bytes
        size = database.stat().st_size
    recall = sum(len(one & best) for one, best in zip(found[1:], exact, strict=True)) / (TOP * len(exact))
    base = median(exact_s)
    table.add(
        "exact, by numpy",
        milliseconds(base),
        milliseconds(percentile(exact_s, 95)),
        ratio(1, 1),
        "1.00",
        mib(matrix.nbytes),
    )
    table.add("the first search", milliseconds(times[0]), "", ratio(times[0], base), "", "")
    table.add(
        "svc",
        milliseconds(median(times[1:])),
        milliseconds(percentile(times[1:], 95)),
        ratio(median(times[1:]), base),
        f"{recall:.2f}",
        mib(held),
    )
    table.notes.append(
        f"{count(SEARCHES)} searches; the database has {mib(size)} MiB; the first search reads all signs"
    )
    table.notes.append(
        "without the vector of what was typed, which a vendor makes in some 200 ms, and without the words"
    )
    return table


def mib(size: float) -> str:
    return count(size / (1 << 20))


def _filled(database: Path, vectors: int, *, form: str) -> tuple[NDArray[np.float32], list[list[float]]]:
    """The vectors as they were made, and those that are searched for. Rows name messages that are not there."""
    import numpy as np

    random = np.random.default_rng(1)
    centres = random.normal(size=(max(vectors // A_CLUSTER, 1), DIMENSIONS)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    matrix = np.empty((vectors, DIMENSIONS), dtype=np.float32)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("pragma foreign_keys = off")
        for start in range(0, vectors, AT_A_TIME):
            some = min(AT_A_TIME, vectors - start)
            made = _about(centres[random.integers(0, len(centres), some)], random)
            matrix[start : start + some] = made
            connection.executemany(
                """
                insert into meaning_vectors (id, space, message_id, page_id, part, form, digest, bits, vector)
                values (?, ?, ?, null, 0, ?, x'00', ?, ?)
                """,
                _rows(made, start, form),
            )
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)")
    wanted = _about(centres[random.integers(0, len(centres), SEARCHES)], random, spread=SPREAD / 2)
    return matrix, [[float(number) for number in one] for one in wanted]


def _about(centres: NDArray[np.float32], random: Any, *, spread: float = SPREAD) -> NDArray[np.float32]:
    import numpy as np

    made = centres + random.normal(scale=spread, size=centres.shape).astype(np.float32)
    whole: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return whole


def _rows(made: NDArray[np.float32], start: int, form: str) -> Iterable[tuple[object, ...]]:
    import numpy as np

    signs = np.packbits(made > 0, axis=1)
    numbers = np.rint(made / np.abs(made).max(axis=1, keepdims=True) * 127).astype(np.int8)
    for place in range(len(made)):
        number = start + place + 1
        yield number, SPACE, f"msg_{number}", form, signs[place].tobytes(), numbers[place].tobytes()


def _exact(matrix: NDArray[np.float32], wanted: list[list[float]]) -> tuple[list[float], list[set[str]]]:
    import numpy as np

    times: list[float] = []
    best: list[set[str]] = []
    for vector in wanted:
        query = np.asarray(vector, dtype=np.float32)
        began = time.perf_counter()
        scores = matrix @ query
        top = np.argpartition(-scores, TOP)[:TOP]
        times.append(time.perf_counter() - began)
        best.append({f"msg_{int(one) + 1}" for one in top})
    return times, best
