"""The broker's routes on the internal listener: through them, work without credentials reaches services that need
credentials.

A run identifies itself by the token that was made for it. What it may acquire was decided when it began. A feature that
declares MCP servers calls :meth:`McpServers.declare`; a stand-in for the model vendors calls
:meth:`Vendors.replace_all`.
"""

from svc.broker.embedding import EmbeddingFault, Embeddings
from svc.broker.feature import FEATURE
from svc.broker.forwarding import Streamed
from svc.broker.mcp_servers import FromCapability, LocalServer, McpServers, RemoteServer, Server, SignIn
from svc.broker.outside import Outside
from svc.broker.vendors import Outgoing, VendorName, Vendors

__all__ = [
    "FEATURE",
    "EmbeddingFault",
    "Embeddings",
    "FromCapability",
    "LocalServer",
    "McpServers",
    "Outgoing",
    "Outside",
    "RemoteServer",
    "Server",
    "SignIn",
    "Streamed",
    "VendorName",
    "Vendors",
]
