"""The states of an outgoing mail, and the table of its transitions. ``docs/states.md`` has the diagram.

``transmitting`` is committed before the first byte leaves. A mail in this state after a crash may or may not have been
sent: it becomes ``uncertain``, and only the mailbox or the person can end that. From then on the row has a doubt
(``Outgoing.doubt``). A mail with a doubt never becomes ``failed`` or ``cancelled``, because its first attempt may have
succeeded; the two events ``..._in_doubt`` replace ``give_up`` and ``cancel`` for it.
"""

from __future__ import annotations

from typing import Final, Literal

from svc.machine import Machine, Transition

OutgoingState = Literal["scheduled", "held", "overdue", "transmitting", "sent", "failed", "uncertain", "cancelled"]
OutgoingEvent = Literal[
    "begin",
    "find",
    "put_off",
    "lose_answer",
    "give_up",
    "give_up_in_doubt",
    "wait_for_room",
    "fall_due_long_ago",
    "set_date_again",
    "hold_again",
    "schedule_again",
    "cancel",
    "cancel_in_doubt",
    "reschedule",
    "retry",
    "dismiss",
]

_T = Transition[OutgoingState, OutgoingEvent]

SENDING: Final = Machine[OutgoingState, OutgoingEvent](
    name="An outgoing mail",
    states=("held", "scheduled", "overdue", "transmitting", "sent", "failed", "uncertain", "cancelled"),
    initial=("held", "scheduled"),
    transitions=(
        _T("begin", ("held", "scheduled"), "transmitting", "It is due: its bytes are stored, and it leaves."),
        _T(
            "find",
            ("held", "scheduled", "overdue", "transmitting", "failed", "uncertain", "cancelled"),
            "sent",
            "The provider says so, or the mail stands among the account's sent mail.",
        ),
        _T("put_off", ("transmitting",), "scheduled", "It provably did not leave, and is tried again later."),
        _T("lose_answer", ("transmitting",), "uncertain", "The provider's answer did not come, or the server stopped."),
        _T(
            "give_up",
            ("held", "scheduled", "overdue", "transmitting"),
            "failed",
            "The provider refuses it, its tries are used up, it can't be built, or its account is gone.",
        ),
        _T("give_up_in_doubt", ("scheduled", "overdue", "transmitting"), "uncertain", "The same, after a lost answer."),
        _T("wait_for_room", ("held", "scheduled"), "scheduled", "The server's disk is full."),
        _T("fall_due_long_ago", ("held", "scheduled"), "overdue", "It was due more than 12 hours ago."),
        _T("set_date_again", ("held", "scheduled"), None, "The clock has jumped back: its next try is set again."),
        _T("hold_again", ("overdue",), "held", "The clock was wrong, and it is not late: it had no time of its own."),
        _T("schedule_again", ("overdue",), "scheduled", "The clock was wrong, and it is not late: it keeps its time."),
        _T("cancel", ("held", "scheduled", "overdue"), "cancelled", "The person takes it back."),
        _T("cancel_in_doubt", ("scheduled", "overdue"), "uncertain", "The same, after a lost answer."),
        _T("reschedule", ("held", "scheduled", "overdue"), "scheduled", "The person chooses another time."),
        _T("retry", ("failed", "overdue", "uncertain"), "scheduled", "The person sends it again."),
        _T("dismiss", ("sent", "failed", "uncertain", "cancelled"), None, "The person puts it away."),
    ),
)

GOES_BY_ITSELF: Final = frozenset[OutgoingState]({"held", "scheduled"})
"""The states that have a date of the next try. No other state has one."""
CANCELLABLE: Final = SENDING.sources("cancel")
RETRYABLE: Final = SENDING.sources("retry")
