"""The Model Context Protocol (MCP): svc as a server, and svc as a client.

As a server: ``POST /mcp`` and ``svc mcp`` give our tools to other programs, which act as the owner of a device's token
(``server.py``, ``stdio.py``). As a client: pages below ``mcp/`` and ``SVC_MCP_SERVERS`` declare servers of others
(``declared.py``, ``servers.py``). Our agents may use the tools of those servers once a person has agreed to them
(``pinned.py``). The worker plane makes the connections (:mod:`svc.worker.mcp`). Owns the tables ``mcp_servers`` and
``mcp_tools``.
"""

from svc.mcp.feature import FEATURE

__all__ = ["FEATURE"]
