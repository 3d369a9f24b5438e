"""Language models for runs: one interface for both vendors, only through the broker.

``ask.py`` is the entry: it writes a question in a vendor's format (``wires.py``: the Messages API for vendor A, Chat
Completions for vendor B), sends it by :meth:`svc.workflow.Run.broker`, retries if the answer allows it, and reads the
answer as events. ``sse.py``, ``reader_a.py`` and ``reader_b.py`` are sans-IO: bytes in, events out. No key is known
here: the broker adds it.
"""

from svc.worker.models.ask import ask
from svc.worker.models.terms import (
    Block,
    Event,
    ModelFault,
    Question,
    Said,
    Stop,
    Text,
    TextDelta,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    capability_of,
    vendor_of,
)

__all__ = [
    "Block",
    "Event",
    "ModelFault",
    "Question",
    "Said",
    "Stop",
    "Text",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "ask",
    "capability_of",
    "vendor_of",
]
