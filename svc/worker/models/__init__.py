"""Language models as a run asks them: one interface for both vendors, through the broker alone.

``ask.py`` is the way in: it words a question for a vendor's wire (``wire_a.py`` the Messages API, ``wire_b.py`` Chat
Completions), sends it by :meth:`svc.workflow.Run.broker`, tries again where the answer says that it helps, and reads
what comes as events. ``sse.py``, ``reader_a.py`` and ``reader_b.py`` are sans-IO: bytes in, events out. No key is known
here: the broker puts it in.
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
