"""The Model Context Protocol: ``POST /mcp`` and ``svc mcp`` give our tools to others, as the owner of a device's token.

Keeps nothing. Start reading at ``protocol.py``.
"""

from svc.mcp.feature import FEATURE

__all__ = ["FEATURE"]
