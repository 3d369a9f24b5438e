"""Sending mail: drafts, the state machine of outgoing mail, and its delivery.

Owns the tables of ``tables.py``, first ``mail_outgoing``, ``mail_drafts`` and ``mail_signatures``. Start reading at
``states.py``: the states and their transitions. The central promise: whatever crashes, a mail leaves at most once, and
the state that is shown is true.
"""
