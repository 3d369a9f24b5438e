"""Writes a recording to a file as it comes, and reads that file, also while it grows. Blocks: for threads.

``pcm16`` is stored unchanged. A packet of Opus is stored after its length, two bytes, little-endian. So a file that a
crash cut at any point is good up to the last whole sample or packet.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc.meetings.audio.ogg import MAX_PACKET_BYTES, OggOpusWriter
from svc.meetings.audio.opus import DECODED_RATE, NotOpus, packet_samples
from svc.meetings.audio.wav import SAMPLE_BYTES, wav_head
from svc.meetings.model import AudioFormat, Meeting

READ_BYTES: Final = 64 * 1024
_LENGTH: Final = struct.Struct("<H")
FOLDER: Final = "meetings"


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The amount of sound. ``received`` counts as clients do: bytes of ``pcm16``, packets of Opus."""

    size: int = 0
    received: int = 0
    seconds: float = 0.0


class Spool:
    """The writing side of one recording."""

    def __init__(self, path: Path, meeting: Meeting) -> None:
        """Make the file. Raises :class:`OSError`."""
        self.extent = Extent()
        self._format: AudioFormat = meeting.format
        self._rate = meeting.rate
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._synced = 0
        _sync_folder(path.parent)

    def append(self, frame: bytes) -> None:
        """Append one frame of a client. Raises :class:`NotOpus`, and :class:`OSError` where the disk is full or
        fails."""
        record, received, seconds = self._measured(frame)
        before = self.extent.size
        written = 0
        try:
            while written < len(record):
                written += os.write(self._descriptor, record[written:])
        except OSError:
            os.ftruncate(self._descriptor, before)  # half a packet would make the following ones unreadable
            raise
        self.extent = Extent(
            size=before + len(record),
            received=self.extent.received + received,
            seconds=self.extent.seconds + seconds,
        )

    def sync(self) -> None:
        """Sync: all that was appended until now survives a power loss."""
        size = self.extent.size
        if size != self._synced:
            os.fdatasync(self._descriptor)
            self._synced = size

    def close(self) -> None:
        """Sync, where the disk still can, and close. May be called twice."""
        if self._descriptor >= 0:
            with suppress(OSError):
                self.sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def _measured(self, frame: bytes) -> tuple[bytes, int, float]:
        if self._format == "pcm16":
            return frame, len(frame), len(frame) / (self._rate * SAMPLE_BYTES)
        if len(frame) > MAX_PACKET_BYTES:
            raise NotOpus("the packet is too long")
        return _LENGTH.pack(len(frame)) + frame, 1, packet_samples(frame) / DECODED_RATE


class SpoolReader:
    """The reading side: from ``from_s`` seconds on. ``start_s`` is the real start."""

    def __init__(self, path: Path, meeting: Meeting, *, from_s: float = 0.0) -> None:
        """Raises :class:`OSError`."""
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  closed by its owner
        self._format = meeting.format
        self._rest = b""
        self.start_s = 0.0
        if self._format == "pcm16":
            sample = round(from_s * meeting.rate)
            self.start_s = sample / meeting.rate
            self._file.seek(sample * SAMPLE_BYTES)
        else:
            self._skip(from_s)

    def read(self) -> list[bytes]:
        """The unread sound of the file, at most some 64 KiB of it: whole samples, or whole packets."""
        data = self._rest + self._file.read(READ_BYTES)
        if self._format == "pcm16":
            whole = len(data) - len(data) % SAMPLE_BYTES
            self._rest = data[whole:]
            return [data[:whole]] if whole else []
        packets, used = _packets(data)
        self._rest = data[used:]
        return packets

    def close(self) -> None:
        self._file.close()

    def _skip(self, from_s: float) -> None:
        """Skip packets one by one, because their durations differ."""
        while self.start_s < from_s:
            packets = self.read()
            if not packets:
                return
            for number, packet in enumerate(packets):
                if self.start_s >= from_s:
                    self._rest = b"".join(_LENGTH.pack(len(one)) + one for one in packets[number:]) + self._rest
                    return
                self.start_s += packet_samples(packet) / DECODED_RATE


def seconds_in(path: Path, meeting: Meeting) -> float:
    """The length of the sound in a file: after a crash nothing else records it."""
    if meeting.format == "pcm16":
        return path.stat().st_size // SAMPLE_BYTES / meeting.rate
    return sum(packet_samples(packet) for packet in _each_packet(path, meeting)) / DECODED_RATE


def as_file(path: Path, meeting: Meeting, *, serial: int) -> Iterator[bytes]:
    """The sound as the bytes of a file that every player supports: WAV, or Ogg with Opus."""
    if meeting.format == "opus":
        writer = OggOpusWriter(serial=serial, rate=meeting.rate)
        for packet in _each_packet(path, meeting):
            yield writer.write(packet)
        yield writer.finish()
        return
    left = path.stat().st_size // SAMPLE_BYTES * SAMPLE_BYTES
    yield wav_head(rate=meeting.rate, data_bytes=left)
    with open(path, "rb", buffering=0) as file:
        while left and (data := file.read(min(left, READ_BYTES))):
            left -= len(data)
            yield data


def _each_packet(path: Path, meeting: Meeting) -> Iterator[bytes]:
    reader = SpoolReader(path, meeting)
    try:
        while packets := reader.read():
            yield from packets
    finally:
        reader.close()


def _packets(data: bytes) -> tuple[list[bytes], int]:
    """The whole packets in ``data``, and how many bytes they take."""
    packets, at = [], 0
    while at + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        end = at + _LENGTH.size + length
        if end > len(data):
            break
        packets.append(data[at + _LENGTH.size : end])
        at = end
    return packets, at


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
