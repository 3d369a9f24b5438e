"""Sends mail: submission by SMTP (RFC 6409). After a failure it says exactly whether the mail may have been sent."""
