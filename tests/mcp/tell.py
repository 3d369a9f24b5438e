"""What the conformance suite starts as its client: ``tell.py PORT URL`` has the test at that port use that server."""

import json
import os
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as test:
    wanted = {
        "scenario": os.environ.get("MCP_CONFORMANCE_SCENARIO", ""),
        "context": os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"),
        "url": sys.argv[2],
    }
    test.sendall(json.dumps(wanted).encode() + b"\n")
    print(test.makefile().read())
