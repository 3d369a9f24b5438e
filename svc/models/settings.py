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
EMBEDDING_MODEL: Final[Setting[str]] = Setting(
    name="SVC_EMBEDDING_MODEL",
    parse=text,
    default="text-embedding-3-small",
    type="text",
    help="Model that search by meaning asks for vectors: vendor B's, or one of who answers at SVC_LLM_B_URL, as "
    "`nomic-embed-text`. With another one all mail and pages are to be read anew.",
)
SETTINGS: Final = (MODEL, EMBEDDING_MODEL)
