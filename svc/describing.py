"""``svc types`` and ``svc openapi``: what other programs need to speak to this one, as this version with these settings
has it. Neither opens the home.
"""

from __future__ import annotations

import sys

from svc import __version__
from svc.app import features_of
from svc.command import OK, Invocation
from svc.generate_types import router


def types_command(call: Invocation) -> int:
    sys.stdout.write(router(features_of(call.config), version=__version__))
    return OK
