"""The name of the fake mailboxes' server in ``Authentication-Results``, where it reports the origin of a mail."""

from __future__ import annotations

from typing import Final

AUTHORITY: Final = "mx.fake.invalid"
