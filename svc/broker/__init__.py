"""The broker's routes on the internal listener: how work without credentials reaches the services that ask for them.

A run asks here, by the token that was minted for it; what it may acquire was decided when it began. Who declares MCP
servers calls :meth:`McpServers.declare`; who stands in for the model vendors, :meth:`Vendors.replace_all`.
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
