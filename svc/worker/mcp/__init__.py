"""Other people's MCP servers as a run uses them: started here as programs, or reached through the broker.

A connection is made for one call and ended with it. ``client.py`` speaks the protocol over a channel (``stdio.py``,
``http.py``); ``using.py`` makes one call, and looks at a server for its list of tools. Which server may be started,
which tool called, and what was agreed to, the other plane says. No credential is known here, but those that a program
is started with.
"""

from svc.worker.mcp.looking import LOOK, ROWS
from svc.worker.mcp.pins import Listed, Seen, digest_of
from svc.worker.mcp.terms import FOUND_PATH, ORDER_PATH
from svc.worker.mcp.using import call_tool

__all__ = ["FOUND_PATH", "LOOK", "ORDER_PATH", "ROWS", "Listed", "Seen", "call_tool", "digest_of"]
