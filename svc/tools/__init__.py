"""Tools: what agents and MCP clients may do here, each tool a row; and the one rule for when a person is asked first.

Owns the tables ``run_tools``, ``run_trust``, ``page_trust``, ``page_vouched`` and ``tool_calls``. Text from outside
(mail, files, the web, other people's pages, MCP servers) taints a run for good. From then on each call that sends,
fetches, executes or changes what others see waits for a person, whatever the agent's definition says. This plane
decides it, not the model: start reading at ``deciding.py``. A tool's answer is data; it changes neither the tools nor
the grants.
"""

from svc.inert import inert
from svc.tools.cards import host_marks
from svc.tools.cards import row as card_row
from svc.tools.deciding import Approval, Understood, bounded, decide, follow, give, understood
from svc.tools.feature import FEATURE
from svc.tools.model import CardRow, Level, Outcome, Tool, ToolInput
from svc.tools.rows.pages import outside_of
from svc.tools.table import LEVELS, Tools, chosen
from svc.tools.taint import (
    DESCRIPTIONS,
    bring_mark_back,
    copy_trust,
    page_mark,
    taint,
    taint_by_descriptions,
    taint_of,
    unvouched,
)

__all__ = [
    "DESCRIPTIONS",
    "FEATURE",
    "LEVELS",
    "Approval",
    "CardRow",
    "Level",
    "Outcome",
    "Tool",
    "ToolInput",
    "Tools",
    "Understood",
    "bounded",
    "bring_mark_back",
    "card_row",
    "chosen",
    "copy_trust",
    "decide",
    "follow",
    "give",
    "host_marks",
    "inert",
    "outside_of",
    "page_mark",
    "taint",
    "taint_by_descriptions",
    "taint_of",
    "understood",
    "unvouched",
]
