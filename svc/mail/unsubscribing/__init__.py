"""Unsubscribing: finds the ways that a sender offers, chooses a safe one, takes it, and stores the result.

Owns ``mail_unsubscribed``. A request to a stranger's address is made only where the sender's own signature covers both
header fields that ask for it (RFC 8058). The server decides this, not the client.
"""
