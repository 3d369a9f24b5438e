"""Sound as bytes: the lengths of Opus packets, Ogg as it should be written, and where a recording is cut."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.meetings.audio.ogg import MAX_PACKET_BYTES, PRE_SKIP, OggOpusWriter, checksum
from svc.meetings.audio.opus import NotOpus, packet_samples
from svc.meetings.audio.silence import MAX_PIECE_S, MIN_PIECE_S, Cutter
from tests.meetings.recorder import RATE, SECOND, quiet, tone

_PAGE = struct.Struct("<4sBBqIIIB")


@dataclass
class OggPage:
    flags: int
    granule: int
    serial: int
    number: int
    packets: list[bytes]


def pages_of(data: bytes) -> list[OggPage]:
    """An Ogg reader by the letter of RFC 3533: every checksum and every number is looked at."""
    pages, at = [], 0
    while at < len(data):
        capture, version, flags, granule, serial, number, crc, laces = _PAGE.unpack_from(data, at)
        assert (capture, version) == (b"OggS", 0)
        table = data[at + _PAGE.size : at + _PAGE.size + laces]
        end = at + _PAGE.size + laces + sum(table)
        page = bytearray(data[at:end])
        page[22:26] = bytes(4)
        assert crc == slow_checksum(page)
        packets, current, here = [], b"", at + _PAGE.size + laces
        for lace in table:
            current += data[here : here + lace]
            here += lace
            if lace < 255:
                packets.append(current)
                current = b""
        assert current == b"", "a packet goes on in the next page"
        pages.append(OggPage(flags, granule, serial, number, packets))
        at = end
    assert [page.number for page in pages] == list(range(len(pages)))
    return pages


def slow_checksum(data: bytes | bytearray) -> int:
    """Bit by bit, as the RFC says it."""
    crc = 0
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)
            crc &= 0xFFFFFFFF
    return crc


def toc(configuration: int, code: int = 0, *, stereo: bool = False) -> int:
    return configuration << 3 | stereo << 2 | code


@given(st.binary(max_size=300))
def test_the_quick_checksum_is_the_right_one(data: bytes) -> None:
    assert checksum(data) == slow_checksum(data)


def test_a_packet_tells_how_long_it_lasts() -> None:
    milliseconds = [10, 20, 40, 60] * 3 + [10, 20] * 2 + [2.5, 5, 10, 20] * 4
    assert [packet_samples(bytes((toc(n),))) for n in range(32)] == [round(48 * ms) for ms in milliseconds]
    assert packet_samples(bytes((toc(1, 1),))) == packet_samples(bytes((toc(1, 2),))) == 1_920
    assert packet_samples(bytes((toc(1, 3), 6))) == 5_760


@pytest.mark.parametrize("packet", [b"", bytes((toc(1, 3),)), bytes((toc(1, 3), 0)), bytes((toc(1, 3), 7))])
def test_what_is_no_packet_is_refused(packet: bytes) -> None:
    with pytest.raises(NotOpus):
        packet_samples(packet)


@given(st.lists(st.binary(max_size=1_000), max_size=120))
def test_packets_come_out_of_the_pages_as_they_went_in(bodies: list[bytes]) -> None:
    packets = [bytes((toc(19),)) + body for body in bodies]
    writer = OggOpusWriter(serial=7, rate=16_000)
    pages = pages_of(b"".join(map(writer.write, packets)) + writer.finish())
    head, tags, *rest = pages
    assert (head.flags, head.granule, tags.granule) == (2, 0, 0)
    assert head.packets == [struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, PRE_SKIP, 16_000, 0, 0)]
    assert tags.packets[0].startswith(b"OpusTags")
    assert [packet for page in rest for packet in page.packets] == packets
    assert rest[-1].flags == 4
    assert all(page.flags == 0 for page in rest[:-1])
    assert rest[-1].granule == 960 * len(packets)
    assert [page.granule for page in rest] == [
        960 * sum(len(one.packets) for one in rest[: at + 1]) for at in range(len(rest))
    ]


def test_two_channels_are_told_and_a_packet_that_fits_no_page_is_refused() -> None:
    writer = OggOpusWriter(serial=1, rate=48_000)
    data = writer.write(bytes((toc(19, stereo=True),))) + writer.finish()
    assert pages_of(data)[0].packets[0][9] == 2
    with pytest.raises(ValueError):
        writer.write(bytes((toc(19),)) + bytes(MAX_PACKET_BYTES))


def test_it_is_cut_where_nobody_speaks() -> None:
    cutter = Cutter(rate=RATE)
    sound = tone(5) + quiet(1) + tone(5) + quiet(6)
    pieces = [piece for at in range(0, len(sound), 3_000) for piece in cutter.feed(sound[at : at + 3_000])]
    pieces += cutter.finish()
    assert b"".join(piece.pcm for piece in pieces) == sound
    assert [piece.is_quiet for piece in pieces] == [False, False, True, True]
    assert pieces[1].start == pytest.approx(5.45, abs=0.1)


def test_who_speaks_without_a_pause_is_cut_anyway() -> None:
    cutter = Cutter(rate=RATE)
    pieces = cutter.feed(tone(1) * round(MAX_PIECE_S + 2)) + cutter.finish()
    assert [len(piece.pcm) // SECOND for piece in pieces] == [round(MAX_PIECE_S), 2]
    assert not any(piece.is_quiet for piece in pieces)
    assert MIN_PIECE_S < MAX_PIECE_S
