"""OAuth at MCP servers that want a sign-in: where one signs in, as which client, and what was granted there.

``discovery.py`` asks a server and its authorization server what they say of themselves, and believes no more than the
standards let it (RFC 9728, RFC 8414, RFC 7591); ``way.py`` says where those questions may go. ``kept.py`` has the rows
and credentials; ``sign_ins.py`` the whole way of one sign-in and the tokens for the broker; ``routes.py`` and
``procedures.py`` are its doors. Tokens never leave the trusted plane but in the header of a call to their own server.
"""

from svc.mcp.signing.sign_ins import SignIns

__all__ = ["SignIns"]
