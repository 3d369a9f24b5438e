"""The catalogue of the archive, in the ledger that is archived with it: its home, its recovery points with their
signatures, the keys that verify them, its base backups, the result of the last drill, and which copy of the home writes
it. All of it blocks.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from svc.backup.points import KEEP_MS, Point, SignedPoint
from svc.backup.target import Place
from svc.clock import Millis
from svc.store import Ledger

T = TypeVar("T")

POINT: Final = "point/"
SIGNATURE: Final = "signature/"
KEY: Final = "key/"
HOME: Final = "home"
WRITER: Final = "writer"
"""The copy of the home that writes the archive (:mod:`svc.backup.writers`), as :meth:`Writer.text` has it."""
EARLIER: Final = "earlier/"
"""The ids of the copies from which this one was restored."""
PLACE: Final = "place"
"""To which this copy wrote last. Earlier versions did not note it."""
OWN_DISK: Final = "own-disk"
"""There if :data:`PLACE` was on a disk of its own."""
LINE: Final = "line"
"""The count of positions in the archive of the database. It begins again at 1 in each empty place, so a position means
nothing in an archive with another line. Archives of earlier versions have none."""
LEFT: Final = "left"
BASE: Final = "state/base"
DRILL: Final = "state/drill"
TRYING: Final = "state/trying"
"""There from the begin of a drill until its end."""
OF_ONE_LINE: Final = (LINE, POINT, SIGNATURE, BASE, DRILL, TRYING)
"""What begins so is true of one archive only."""


@dataclass(frozen=True)
class Writer:
    """A copy of the home, at one of its starts. ``mark`` is drawn anew each time: two starts of one copy with the same
    number are those of two machines, of which one has the home by a copy of its files."""

    copy: str
    start: int
    mark: str

    @classmethod
    def read(cls, data: bytes) -> Writer:
        """Versions before this one wrote the copy alone."""
        copy, start, mark, *_ = [*data.decode(errors="replace").split("."), "", ""]
        return cls(copy, int(start) if start.isdecimal() else 0, mark)

    @classmethod
    def after(cls, before: Writer | None) -> Writer:
        copy, start = (secrets.token_hex(8), 0) if before is None else (before.copy, before.start)
        return cls(copy, start + 1, secrets.token_hex(4))

    def text(self) -> bytes:
        return f"{self.copy}.{self.start}.{self.mark}".encode()


class Base(msgspec.Struct, frozen=True):
    """One whole copy in the archive."""

    id: str
    at: Millis
    bytes: int


class BaseState(msgspec.Struct, frozen=True):
    """``at``: when the last successful one was begun."""

    at: Millis
    held: tuple[Base, ...] = ()


class Left(msgspec.Struct, frozen=True):
    """The archive that this home left last, at ``at``; ``oldest``: the time of its oldest recovery point."""

    at: Millis
    oldest: Millis


class DrillState(msgspec.Struct, frozen=True):
    """``point``: the newest one, or the one that has the problem. ``older``: the time of the other one
    that was tried."""

    at: Millis
    seconds: float
    point: str
    problem: str | None = None
    older: Millis | None = None


class Trying(msgspec.Struct, frozen=True):
    """A drill that is begun. ``cut_off``: how many before it were begun in a row and did not end."""

    cut_off: int = 0


@dataclass(frozen=True)
class Catalogue:
    ledger: Ledger

    def home(self) -> str | None:
        found = self.ledger.get(HOME)
        return None if found is None else found.decode()

    def begin(self, home: str, earlier: Mapping[str, bytes]) -> None:
        """Start the catalogue for that home; ``earlier`` is the content of its archived ledger."""
        self.ledger.put({**earlier, HOME: home.encode()})

    def has_line_of(self, theirs: Mapping[str, bytes]) -> bool:
        """Whether the archive with that ledger continues what this home sent last."""
        return theirs.get(LINE) == self.ledger.get(LINE)

    def change_line(self, theirs: Mapping[str, bytes], *, now: Millis) -> None:
        """Go on with the archive that has that ledger, or begin one where it is empty. The recovery points of the
        archive that is left are in its own ledger."""
        theirs = theirs or {LINE: secrets.token_hex(8).encode()}
        taken = {name: value for name, value in theirs.items() if name.startswith(OF_ONE_LINE)}
        times = [one.at for one in self.points()]
        if (oldest := self.left_since(now)) is not None:
            times.append(oldest)
        if times:
            taken[LEFT] = msgspec.json.encode(Left(at=now, oldest=min(times)))
        self.ledger.put(taken, without=[name for name in self.ledger.under("") if name.startswith(OF_ONE_LINE)])

    def left_since(self, now: Millis) -> Millis | None:
        """The oldest recovery point in an archive that was left, while one may still be restored from it."""
        left = self._state(LEFT, Left)
        return None if left is None or now - left.at > KEEP_MS else left.oldest

    def writer(self) -> Writer | None:
        data = self.ledger.get(WRITER)
        return None if data is None else Writer.read(data)

    def knows(self, writer: Writer) -> bool:
        """Whether it is this copy of the home at this start or an earlier one, or a copy that it was restored from."""
        ours = self.writer()
        if ours is not None and writer.copy == ours.copy:
            return writer == ours or writer.start < ours.start
        return self.ledger.get(EARLIER + writer.copy) is not None

    def begin_writing(self, place: Place) -> None:
        """Note a start of this copy of the home, before it writes to the archive."""
        self.ledger.put({WRITER: Writer.after(self.writer()).text(), PLACE: str(place).encode()})

    def wrote_to(self, place: Place, *, home: str) -> bool:
        """Whether this home wrote there last, as far as known."""
        return self.home() == home and self.ledger.get(PLACE) in {None, str(place).encode()}

    def was_on_its_own_disk(self) -> bool:
        return self.ledger.get(OWN_DISK) is not None

    def note_disk(self, *, is_its_own: bool) -> None:
        """Note whether the place is on a disk of its own. Written only when it changed."""
        if is_its_own != self.was_on_its_own_disk():
            self.ledger.put({OWN_DISK: b""} if is_its_own else {}, without=[] if is_its_own else [OWN_DISK])

    def end_writing(self) -> None:
        """Note, in the ledger of a restored home, that it is another copy from now on."""
        writer = self.writer()
        if writer is not None:
            self.ledger.put({EARLIER + writer.copy: b""}, without=[WRITER])

    def points(self) -> list[Point]:
        """All points, the newest first: by position, because a clock may have been set back. Unreadable ones are left
        out."""
        read = (SignedPoint(data, b"").read() for data in self.ledger.under(POINT).values())
        found = [point for point in read if point is not None]
        return sorted(found, key=lambda one: (one.position, one.at), reverse=True)

    def signed(self, point_id: str) -> SignedPoint | None:
        data = self.ledger.get(POINT + point_id)
        return None if data is None else SignedPoint(data, self.ledger.get(SIGNATURE + point_id) or b"")

    def add(self, signed: SignedPoint, point: Point, *, key: bytes, without: Sequence[str] = ()) -> None:
        self.ledger.put(
            {POINT + point.id: signed.data, SIGNATURE + point.id: signed.signature, KEY + point.key: key},
            without=[prefix + one for one in without for prefix in (POINT, SIGNATURE)],
        )

    def keys(self) -> dict[str, bytes]:
        """Public keys of the signatures, by the id of the master key that they are derived from."""
        return {name.removeprefix(KEY): value for name, value in self.ledger.under(KEY).items()}

    def base(self) -> BaseState | None:
        return self._state(BASE, BaseState)

    def drill(self) -> DrillState | None:
        return self._state(DRILL, DrillState)

    def trying(self) -> Trying | None:
        """The drill that is begun, or that was cut off."""
        return self._state(TRYING, Trying)

    def begin_drill(self) -> None:
        before = self.trying()
        trying = Trying(cut_off=0 if before is None else before.cut_off + 1)
        self.ledger.put({TRYING: msgspec.json.encode(trying)})

    def note(self, state: BaseState | DrillState) -> None:
        if isinstance(state, BaseState):
            self.ledger.put({BASE: msgspec.json.encode(state)})
        else:
            self.ledger.put({DRILL: msgspec.json.encode(state)}, without=[TRYING])

    def _state(self, name: str, kind: type[T]) -> T | None:
        data = self.ledger.get(name)
        return None if data is None else msgspec.json.decode(data, type=kind)
