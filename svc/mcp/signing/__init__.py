"""OAuth for MCP servers that want a sign-in: where the user signs in, as which client, and what was granted there.

``discovery.py`` reads the metadata of a server and of its authorization server, and trusts it only as far as the
standards allow (RFC 9728, RFC 8414, RFC 7591). ``way.py`` decides where those requests may go. ``kept.py`` has the rows
and credentials. ``sign_ins.py`` does one whole sign-in, and gives the tokens to the broker. ``routes.py`` and
``procedures.py`` are the interface to the browser. Tokens leave the trusted plane only in the header of a call to their
own server.
"""

from svc.mcp.signing.sign_ins import SignIns

__all__ = ["SignIns"]
