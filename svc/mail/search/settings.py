"""Search's own setting: how long the index may lag behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc.config import Setting, whole_number
from svc.settings import PROVIDERS

DEFAULT_DEBOUNCE_MS: Final = 1_500


def _default(environ: Mapping[str, str]) -> int:
    return 0 if environ.get(PROVIDERS.name) == "fake" else DEFAULT_DEBOUNCE_MS


INDEX_DEBOUNCE_MS: Setting[int] = Setting(
    name="SVC_INDEX_DEBOUNCE_MS",
    parse=whole_number(0, 60_000),
    default=_default,
    shown_default="`0` under PROVIDERS=fake, else `1500`",
    type="whole number",
    unit="milliseconds",
    help="How long the search index waits for more of what is arriving. 0 is synchronous: what is stored is found.",
)

SETTINGS = (INDEX_DEBOUNCE_MS,)
