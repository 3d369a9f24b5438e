"""The settings of a hosted cell, for tests and benchmarks: what it gets its master key from an escrow service with."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from svc.app import all_rules, all_settings
from svc.capabilities import EscrowKeys
from svc.config import Config, read_config

KEY: Final = "arn:aws:kms:eu-central-1:123456789012:key/11111111-2222-3333-4444-555555555555"
TOKEN: Final = "cell-1." + "s" * 40


class AtOnce(random.Random):
    """No pause before the next try."""

    def uniform(self, a: float, b: float) -> float:
        return 0.0


def config_of(home: Path, *, escrow: str, kms: str, **more: str) -> Config:
    environ = {
        "HOME": str(home.parent),
        "SVC_HOME": str(home),
        "SVC_PROFILE": "cloud",
        "SVC_PUBLIC_ORIGIN": "https://acme.example",
        "SVC_TENANT_ID": "acme",
        "SVC_KMS_PROVIDER": "aws",
        "SVC_KMS_KEY_ID": KEY,
        "SVC_KMS_URL": kms,
        "SVC_KEY_ESCROW_URL": escrow,
        "SVC_KEY_ESCROW_TOKEN": TOKEN,
        "AWS_ACCESS_KEY_ID": "AK",
        "AWS_SECRET_ACCESS_KEY": "SK",
        **more,
    }
    return read_config(all_settings(), environ, all_rules())


def keys_of(config: Config, home: Path) -> EscrowKeys:
    return EscrowKeys(config, home=home, rng=AtOnce())
