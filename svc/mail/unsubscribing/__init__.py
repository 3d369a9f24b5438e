"""No more of this: the ways out that a sender offers, which of them is safe, taking it, and remembering what came of
it.

Owns ``mail_unsubscribed``. A request to a stranger's address is made only where the sender's own signature covers both
fields that ask for it (RFC 8058); it is decided here, whatever a client believes.
"""
