"""How a mail gets out: drafts, the state machine of what is sent, and its delivery.

Owns the tables ``mail_outgoing``, ``mail_drafts`` and ``mail_signatures``. Start reading at ``model.py``: the states
and what moves between them. The central promise: whatever crashes, a mail leaves at most once, and the state shown is
true.
"""
