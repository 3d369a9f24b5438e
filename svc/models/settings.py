"""The settings of models."""

from __future__ import annotations

from typing import Final

from svc.config import Setting, text

MODEL: Final[Setting[str]] = Setting(
    name="SVC_MODEL",
    parse=text,
    default="claude-sonnet-4-5",
    type="text",
    help="Model for agent runs, mail rules, drafted replies and triage. `b/` before it asks vendor B, or who answers "
    "at SVC_LLM_B_URL: `b/llama3.2`.",
)
SETTINGS: Final = (MODEL,)
