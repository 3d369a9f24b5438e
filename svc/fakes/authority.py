"""The name under which the server of the fake mailboxes tells who a mail comes from (``Authentication-Results``)."""

from __future__ import annotations

from typing import Final

AUTHORITY: Final = "mx.fake.invalid"
