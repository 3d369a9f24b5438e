"""An MCP server on standard input and output that is as odd as it is told to be; it needs nothing but Python.

``odd_server.py FILE``: FILE is JSON and read anew for each message, ``{"tools": […], "version", "odd": …}``. Each start
and each call leaves a line beside it, in ``FILE.log``.
"""

import json
import os
import sys
import time
from typing import Any

FILE = sys.argv[1]
MIB = 1024 * 1024
PROTOCOL = "io.modelcontextprotocol/"


def note(**said: object) -> None:
    with open(FILE + ".log", "a") as log:
        log.write(json.dumps(said) + "\n")


def told() -> Any:
    with open(FILE) as file:
        return json.load(file)


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def allowed(path: str) -> str:
    found = ""
    for mode, sign in (("rb", "r"), ("ab", "w")):
        try:
            with open(path, mode):
                found += sign
        except OSError:
            pass
    return found


def called(number: object, params: dict[str, Any], odd: str | None) -> None:
    note(call=params["name"], arguments=params["arguments"])
    if odd == "snoops":
        note(snooped=[allowed(path) for path in told()["snoops"]])
    if odd == "dies":
        sys.stderr.write("first line\nError: out of memory\x1b[31m\n\nNode.js v1\n")
        sys.exit(3)
    if odd == "hangs":
        time.sleep(600)
    if odd == "floods":
        sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"content": [{{"type": "text", "text": "')
        for _ in range(50):
            sys.stdout.write("x" * MIB)
        sys.stdout.write('"}]}}\n')
        sys.stdout.flush()
    if odd == "new edition, asks":
        say({"id": number, "result": {"resultType": "input_required", "inputRequests": {}}})
        return
    if odd == "asks":
        say({"id": "a", "method": "sampling/createMessage", "params": {"messages": []}})
        say({"id": "b", "method": "ping"})
        answers = [json.loads(sys.stdin.readline()) for _ in range(2)]
        note(answers=answers)
    if odd == "lies":
        print("this is no message")
        say({"id": 999, "result": {"content": [{"type": "text", "text": "of another question"}]}})
        say({"method": "notifications/tools/list_changed"})
    if odd == "answers shapelessly":
        say({"id": number, "result": {"content": "no list"}})
        return
    text = str(params["arguments"].get("text", "")) * int(params["arguments"].get("times", 1))
    say({"id": number, "result": {"content": [{"type": "text", "text": text}], "isError": odd == "fails"}})


note(start=os.getpid(), environ=dict(os.environ), directory=os.getcwd())
if told().get("odd") == "starts not":
    sys.exit("no such table: notes")
for line in sys.stdin:
    message = json.loads(line)
    script = told()
    method, number = message["method"], message.get("id")
    odd = str(script.get("odd"))
    meta = message.get("params", {}).get("_meta", {})
    if odd.startswith("new edition") and meta.get(f"{PROTOCOL}protocolVersion") not in script["speaks"]:
        data = {"supported": script["speaks"], "requested": meta.get(f"{PROTOCOL}protocolVersion")}
        say({"id": number, "error": {"code": -32022, "message": "unsupported version", "data": data}})
    elif odd == "no edition":
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})
    elif method == "server/discover":
        about = {f"{PROTOCOL}serverInfo": {"name": "odd", "version": "1.0"}}
        say({"id": number, "result": {"supportedVersions": script["speaks"], "capabilities": {}, "_meta": about}})
    elif method == "initialize":
        info = {"name": "odd", "version": script.get("version", "1.0")}
        result = {
            "protocolVersion": script.get("edition", "2025-11-25"),
            "capabilities": {"tools": {}},
            "serverInfo": info,
        }
        say({"id": number, "result": result})
    elif method == "tools/list":
        say({"id": number, "result": {"tools": script["tools"]}})
    elif method == "tools/call":
        called(number, message["params"], script.get("odd"))
note(end=os.getpid())
