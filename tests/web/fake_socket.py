"""The /ws of the stand-in server: one connection, read and written by hand."""

from __future__ import annotations

import base64
import hashlib
import json
import queue
import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.web.refusal import Refusal as Refusal

if TYPE_CHECKING:
    from tests.web.fake_server import Handler

WS_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Socket:
    """As much of RFC 6455 as the app's live updates need."""

    def __init__(self, handler: Handler) -> None:
        self.handler, self.answers = handler, handler.answers
        self.topics: set[str] = set()
        self.writing = threading.Lock()
        self.late: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.over = False

    def serve(self) -> None:
        key = self.handler.headers["sec-websocket-key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + WS_MAGIC).digest()).decode()
        self.handler.send_response(101)
        for name, value in [("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-accept", accept)]:
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.close_connection = True
        with self.answers.lock:
            self.answers.sockets.append(self)
        sender = threading.Thread(target=self.send_late)
        if self.handler.served.chance:
            sender.start()
        self.raw({"type": "ready", "seq": self.answers.seq})
        with suppress(ConnectionError, ValueError, struct.error, OSError):
            while (message := self.receive()) is not None:
                self.hear(json.loads(message))
        with self.answers.lock:
            self.answers.sockets.remove(self)
        self.over = True  # a thousand late frames would take minutes
        self.late.put(None)
        if self.handler.served.chance:
            sender.join()

    def hear(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "ping":
            self.raw({"type": "pong"})
        elif frame["type"] == "subscribe":
            with self.answers.lock:
                self.topics = set(frame["topics"])
                for event in self.answers.events:
                    if event["seq"] > frame.get("after", self.answers.seq):
                        self.send(event)

    def send(self, frame: dict[str, Any]) -> None:
        if frame["topic"] in self.topics:
            self.raw(frame)

    def raw(self, frame: dict[str, Any]) -> None:
        data = json.dumps(frame).encode()
        head = bytes([0x81, len(data)]) if len(data) < 126 else struct.pack(">BBH", 0x81, 126, len(data))
        if self.handler.served.chance:
            self.late.put(head + data)
        else:
            self.write(head + data)

    def write(self, frame: bytes) -> None:
        with self.writing, suppress(ConnectionError, ValueError, OSError):
            self.handler.wfile.write(frame)

    def send_late(self) -> None:
        """One after the other, as a socket does."""
        while (frame := self.late.get()) is not None and not self.over:
            self.handler.served.be_late()
            self.write(frame)

    def receive(self) -> bytes | None:
        first, second = self.handler.rfile.read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.handler.rfile.read(2))
        mask = self.handler.rfile.read(4)
        data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(self.handler.rfile.read(length)))
        return None if first & 0x0F == 8 else data

    def cut(self) -> None:
        with suppress(OSError):
            self.handler.connection.shutdown(socket.SHUT_RDWR)
