"""The MCP client of runs, for other people's servers: they are started here as programs, or reached through the broker.

A connection is made for one call and ended after it. ``client.py`` speaks the protocol over a channel (``stdio.py``,
``http.py``); ``using.py`` makes one call, and asks a server for its list of tools. The other plane decides which server
may be started, which tool may be called, and what was agreed to. The only credentials known here are those in the
environment that a program is started with.
"""

from svc.worker.mcp.looking import LOOK, ROWS
from svc.worker.mcp.pins import Listed, Seen, digest_of
from svc.worker.mcp.terms import FOUND_PATH, ORDER_PATH
from svc.worker.mcp.using import call_tool

__all__ = ["FOUND_PATH", "LOOK", "ORDER_PATH", "ROWS", "Listed", "Seen", "call_tool", "digest_of"]
