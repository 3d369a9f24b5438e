"""Vectors and texts by themselves: what is nearest, what is cut where, and answers of a vendor that are none."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.broker import EmbeddingFault, Embeddings, Outgoing, Streamed, Vendors
from svc.fakes.llm.said import whole
from svc.meaning import vectors
from svc.meaning.finding import fused
from svc.meaning.texts import HEAD_CHARS, PIECE_CHARS, pieces_of
from tests.support.service import Service

DIMENSIONS = 96  # no whole number of words


def some(count: int, seed: int) -> list[list[float]]:
    random = Random(seed)
    return [[random.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(count)]


def cosine(one: list[float], other: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


@given(seed=st.integers(0, 2**32), count=st.integers(1, 60), most=st.integers(1, 60))
def test_what_is_kept_of_vectors_ranks_them_as_they_are_and_nobody_is_found_who_is_not_allowed(
    seed: int, count: int, most: int
) -> None:
    wanted, *made = some(count + 1, seed)
    packed = [vectors.packed(one) for one in made]
    half = count // 2
    signs = vectors.no_signs().with_more([(number, bits) for number, (bits, _) in enumerate(packed[:half], 1)])
    signs = signs.with_more([(number, bits) for number, (bits, _) in enumerate(packed[half:], half + 1)])
    assert signs.last == count
    near = vectors.cosines([numbers for _, numbers in packed], wanted)
    assert near == pytest.approx([cosine(one, wanted) for one in made], abs=0.02)
    bits, _ = vectors.packed(wanted)
    found = vectors.nearest([(signs, None)], bits, most=most)
    assert len(found) == len(set(found)) == min(most, count)
    differ = [bin(int.from_bytes(one, "big") ^ int.from_bytes(bits, "big")).count("1") for one, _ in packed]
    assert sorted(differ[one - 1] for one in found) == sorted(differ)[: len(found)]
    allowed = [number for number in range(1, count + 1) if number % 3]
    assert set(vectors.nearest([(signs, allowed)], bits)) == set(allowed)


@given(head=st.text(max_size=400), text=st.text(max_size=9_000), most=st.integers(1, 6))
def test_a_text_is_cut_into_pieces_that_say_all_of_it_up_to_the_most(head: str, text: str, most: int) -> None:
    pieces = pieces_of(head, text, most=most)
    assert 1 <= len(pieces) <= most
    assert [piece.part for piece in pieces] == list(range(len(pieces)))
    assert all(0 < len(piece.text) <= HEAD_CHARS + 2 + PIECE_CHARS for piece in pieces)
    if len(pieces) < most:
        said = "".join("".join(piece.text.split()) for piece in pieces_of("", text, most=most))
        assert said == ("".join(text.split()) or "(notext)")


def test_what_stands_high_in_both_rankings_comes_first() -> None:
    assert fused(["a", "b", "c"], ["c", "b", "d"]) == ["c", "b", "a", "d"]
    assert fused([], []) == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": []},
        {"data": [{"embedding": [1.0], "index": 0}, {"embedding": [1.0, 2.0], "index": 1}]},
        {"data": [{"embedding": [], "index": 0}, {"embedding": [], "index": 1}]},
        {"data": [{"embedding": ["x"], "index": 0}] * 2},
        {"data": [{"embedding": [1.0], "index": 0}]},
    ],
)
async def test_an_answer_without_a_vector_for_each_text_is_refused_in_words(
    service: Service, answer: dict[str, Any]
) -> None:
    async def send(call: Outgoing) -> Streamed:
        assert json.loads(call.body)["input"] == ["one", "two"]
        return whole(answer)

    service.workspace.service(Vendors).replace_all(send)
    with pytest.raises(EmbeddingFault, match="vectors") as found:
        await service.workspace.service(Embeddings).embed(
            ["one", "two"], model="m", dimensions=None, account="a", user_id=None, within_s=5.0
        )
    assert not found.value.passing
