"""A hosted cell's master key: it comes wrapped from the escrow service, and a key-management service unwraps it.

Nothing of it is on the cell's disk but a note of which version was seen last. Each refusal of a boot has words of its
own, and happens before anything is created.
"""

from svc.capabilities.escrow.keys import EscrowKeys
from svc.capabilities.escrow.refusals import EscrowRefused
from svc.capabilities.escrow.settings import RULES, SETTINGS

__all__ = ["RULES", "SETTINGS", "EscrowKeys", "EscrowRefused"]
