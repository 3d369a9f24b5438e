"""The Model Context Protocol, both ways.

As a server: ``POST /mcp`` and ``svc mcp`` give our tools to others, as the owner of a device's token (``server.py``,
``stdio.py``). As a client: pages below ``mcp/`` and ``SVC_MCP_SERVERS`` declare servers of others (``declared.py``,
``servers.py``), whose tools our agents may use once a person has agreed to them (``pinned.py``). It is the worker plane
that connects to them (:mod:`svc.worker.mcp`). Owns the tables ``mcp_servers`` and ``mcp_tools``.
"""

from svc.mcp.feature import FEATURE

__all__ = ["FEATURE"]
