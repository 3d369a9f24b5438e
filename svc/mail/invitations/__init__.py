"""Invitations to meetings: reads a mail's calendar files, finds which of several versions is valid, and answers.

Owns ``mail_invitations`` (the parsed files, a row for each event of a message), ``mail_invitation_answers``,
``mail_invitation_times`` (the dates of meetings accepted here) and ``mail_proposal_answers``. An answer is sent like
any mail, and can be held back.
"""
