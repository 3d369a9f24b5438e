"""The Model Context Protocol, both ways: ``POST /mcp`` and ``svc mcp`` give others our tools; declared servers give
us theirs. Start reading at ``protocol.py``."""

from svc.mcp.feature import FEATURE

__all__ = ["FEATURE"]
