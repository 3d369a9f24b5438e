"""Speech to text that hears the same in every sound: one word per second, and a sentence of every four words.

So a test, or a person who tries the app, sees words appear and become final, in two voices, and knows which words to
expect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.meetings import Heard, Sound, Tell

WORDS: Final = (
    *("We", "begin", "on", "time."),
    *("The", "ferry", "leaves", "today."),
    *("Who", "writes", "it", "down?"),
    *("I", "do", "it", "now."),
)
SENTENCE: Final = 4
SPEAKERS: Final = 2
_OPUS_PACKET_S: Final = 0.02


@dataclass(frozen=True)
class FakeSpeech:
    title: str = "The fake recogniser"

    async def listen(self, sound: Sound, tell: Tell) -> None:
        seconds, told = 0.0, 0
        while (pieces := await sound.next()) is not None:
            for piece in pieces:
                seconds += len(piece) / (2 * sound.rate) if sound.format == "pcm16" else _OPUS_PACKET_S
                while seconds >= told + 1:
                    told += 1
                    await tell(_heard(told, final=told % SENTENCE == 0))
        if told % SENTENCE:
            await tell(_heard(told, final=True))


def _heard(told: int, *, final: bool) -> Heard:
    """The sentence of word number ``told``, up to that word."""
    sentence = (told - 1) // SENTENCE
    start = sentence * SENTENCE
    return Heard(
        text=" ".join(WORDS[number % len(WORDS)] for number in range(start, told)),
        start=float(start),
        end=float(told),
        final=final,
        speaker=f"Speaker {sentence % SPEAKERS + 1}",
    )
