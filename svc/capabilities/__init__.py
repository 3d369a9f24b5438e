"""Capabilities: all credentials in one place, with one way to read them.

A feature declares which credentials it works with (``Feature.capabilities``) and which it may acquire
(``Feature.uses``), and gets its door from :func:`door_of`. The audit records who acquired what. Only this package holds
the secrets store.
"""

from svc.capabilities.broker import Broker, Door, NotGranted
from svc.capabilities.doors import broker_of, door_of
from svc.capabilities.escrow import EscrowKeys, EscrowRefused
from svc.capabilities.feature import FEATURE
from svc.capabilities.keys import escrow_keys, key_source
from svc.capabilities.master_key import MasterKey
from svc.capabilities.probing import ask as ask_service
from svc.capabilities.recovery import CodeRefused, Sealed, code_opens, new_code, put_back, sealed_of
from svc.capabilities.recovery import fits as code_fits
from svc.capabilities.seeding import whole
from svc.capabilities.settings import LLM_A_URL, LLM_B_URL

__all__ = [
    "FEATURE",
    "LLM_A_URL",
    "LLM_B_URL",
    "Broker",
    "CodeRefused",
    "Door",
    "EscrowKeys",
    "EscrowRefused",
    "MasterKey",
    "NotGranted",
    "Sealed",
    "ask_service",
    "broker_of",
    "code_fits",
    "code_opens",
    "door_of",
    "escrow_keys",
    "key_source",
    "new_code",
    "put_back",
    "sealed_of",
    "whole",
]
