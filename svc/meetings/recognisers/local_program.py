"""``python -m svc.meetings.recognisers.local_program``: samples on standard input, recognised text on standard output.

Input: 16-bit samples of one channel, 16,000 a second, without a header. Output: a line of JSON for each utterance. It
is a separate program because recognition uses a whole core and holds the interpreter lock. It imports nothing of the
service, and gets none of its environment.
"""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

from pocketsphinx import Decoder, Endpointer

RATE = 16_000
PARTIAL_EVERY_S = 0.5
_SILENCE = bytes(2)
"""One sample of silence: neither the endpointer nor the decoder accepts empty input."""


def main() -> None:
    decoder = Decoder(samprate=RATE, loglevel="FATAL")
    endpointer = Endpointer(sample_rate=RATE)
    hearing = Hearing(decoder)
    source = sys.stdin.buffer
    while True:
        frame = _frame(source, endpointer.frame_bytes)
        whole = len(frame) == endpointer.frame_bytes
        if whole:
            speech = endpointer.process(frame)
        elif endpointer.in_speech:
            speech = endpointer.end_stream(frame or _SILENCE)
        else:
            return
        if speech:
            hearing.take(bytes(speech), start=endpointer.speech_start)
        if hearing.is_open and not (whole and endpointer.in_speech):
            hearing.end(endpointer.speech_end)
        if not whole:
            return


class Hearing:
    """One utterance, from its first sample to its last."""

    def __init__(self, decoder: Any) -> None:
        self.is_open = False
        self._decoder = decoder
        self._start = self._seconds = 0.0
        self._told_at = 0.0
        self._told = ""

    def take(self, samples: bytes, *, start: float) -> None:
        if not self.is_open:
            self.is_open, self._start, self._seconds, self._told_at, self._told = True, start, 0.0, 0.0, ""
            self._decoder.start_utt()
        self._decoder.process_raw(samples, no_search=False, full_utt=False)
        self._seconds += len(samples) / (2 * RATE)
        if self._seconds - self._told_at >= PARTIAL_EVERY_S:
            self._told_at = self._seconds
            self._tell(self._start + self._seconds, final=False)

    def end(self, at: float) -> None:
        self._decoder.end_utt()
        self.is_open = False
        self._tell(max(at, self._start), final=True)

    def _tell(self, end: float, *, final: bool) -> None:
        found = self._decoder.hyp()
        text = found.hypstr.strip() if found is not None else ""
        if text and (final or text != self._told):
            self._told = text
            told = {"text": text, "start": round(self._start, 3), "end": round(end, 3), "final": final}
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


def _frame(source: BinaryIO, size: int) -> bytes:
    """``size`` bytes, or the rest; never half a sample."""
    data = source.read(size)
    return data[: len(data) - len(data) % 2]


if __name__ == "__main__":
    main()
