"""Finds the vendor of a model by the model's name."""

from __future__ import annotations

from typing import Final, Literal

VendorName = Literal["a", "b"]

_OF_A: Final = "claude"


def vendor_of(model: str) -> tuple[VendorName, str]:
    """The vendor, and the model's id as the vendor knows it: ``b/llama3.2`` is vendor B's ``llama3.2``."""
    if model.startswith("a/"):
        return "a", model[2:]
    if model.startswith("b/"):
        return "b", model[2:]
    return ("a" if model.startswith(_OF_A) else "b"), model


def capability_of(model: str) -> str:
    """The credential that a run needs for this model."""
    return f"llm.{vendor_of(model)[0]}"
