"""Invitations to meetings: what a mail's calendar file says, which of several versions holds, and the answer.

Owns ``mail_invitations`` (what was read, a row for each event of a message), ``mail_invitation_answers`` and
``mail_invitation_times`` (the dates of what was accepted here). An answer leaves like any mail, and can be held back.
"""
