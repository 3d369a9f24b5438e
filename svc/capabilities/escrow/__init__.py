"""The master key of a hosted cell: the escrow service stores it wrapped, and a key-management service unwraps it.

The cell's disk has only a note of the version that was seen last. Each reason to refuse a boot has its own message, and
the refusal happens before anything is created.
"""

from svc.capabilities.escrow.keys import EscrowKeys
from svc.capabilities.escrow.refusals import EscrowRefused
from svc.capabilities.escrow.settings import RULES, SETTINGS

__all__ = ["RULES", "SETTINGS", "EscrowKeys", "EscrowRefused"]
