"""Search's own setting: how long the index may lag behind."""

from __future__ import annotations

from typing import Final

from svc.config import Setting, whole_number
from svc.settings import default_under_fakes

DEFAULT_DEBOUNCE_MS: Final = 1_500


INDEX_DEBOUNCE_MS: Setting[int] = Setting(
    name="SVC_INDEX_DEBOUNCE_MS",
    parse=whole_number(0, 60_000),
    default=default_under_fakes(0, otherwise=DEFAULT_DEBOUNCE_MS),
    shown_default="`0` under PROVIDERS=fake, else `1500`",
    type="whole number",
    unit="milliseconds",
    help="How long the search index waits for more of what is arriving. 0 is synchronous: what is stored is found.",
)

SETTINGS = (INDEX_DEBOUNCE_MS,)
