"""The price of a model, by its name: a guess is too high rather than too low."""

from __future__ import annotations

import pytest

from svc.models.prices import DEAREST, FREE, Price, price_of


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("claude-sonnet-4-5", Price(3.0, 15.0)),
        ("claude-sonnet-4-5-20250929", Price(3.0, 15.0)),
        ("claude-opus-4-5-20251101", Price(5.0, 25.0)),
        ("claude-opus-4-1", Price(15.0, 75.0)),
        ("claude-3-5-haiku-latest", Price(0.8, 4.0)),
        ("gpt-5", Price(1.25, 10.0)),
        ("gpt-5-2025-08-07", Price(1.25, 10.0)),
        ("gpt-5-mini-2025-08-07", Price(0.25, 2.0)),
        ("gpt-5-chat-latest", Price(1.25, 10.0)),
        ("gpt-5.1", Price(1.25, 10.0)),
        ("gpt-5.1-2025-11-13", Price(1.25, 10.0)),
        ("gpt-4o-2024-05-13", Price(5.0, 15.0)),
        ("gpt-4o-2024-08-06", Price(2.5, 10.0)),
        ("gpt-5-pro", DEAREST),
        ("gpt-5.9", DEAREST),
        ("gpt-4o-realtime-preview", DEAREST),
        ("o3-pro-2025-06-10", DEAREST),
        ("o3-deep-research", DEAREST),
        ("claude-sonnetta", DEAREST),
        ("new-model", DEAREST),
        ("", DEAREST),
    ],
)
def test_a_version_of_a_model_costs_as_the_model_and_another_model_the_most(model: str, price: Price) -> None:
    assert price_of(model, is_own_server=False) == price
    assert price_of(model, is_own_server=True) == FREE
