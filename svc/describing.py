"""``svc types`` and ``svc openapi``: describe the API for other programs, for this version and these settings. Neither
opens the home.
"""

from __future__ import annotations

import json
import sys

from svc import __version__
from svc.app import features_of
from svc.command import OK, Invocation
from svc.description import openapi
from svc.generate_types import router
from svc.settings import PORT, canonical_origin


def types_command(call: Invocation) -> int:
    sys.stdout.write(router(features_of(call.config), version=__version__))
    return OK


def openapi_command(call: Invocation) -> int:
    origin = canonical_origin(call.config, port=call.config[PORT])
    print(json.dumps(openapi(features_of(call.config), version=__version__, origin=origin), indent=2))
    return OK
