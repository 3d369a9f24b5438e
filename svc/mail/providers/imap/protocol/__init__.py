"""IMAP without I/O: bytes of a server in, records out; records in, bytes of a command out.

Theory. A server speaks in responses (RFC 3501 and 9051, section 7): lines that may hold literals, which are counted
bytes of any kind. ``framing`` cuts the stream into responses, ``values`` reads the words of one, ``responses`` says
what it means. ``writing`` makes commands, ``sets`` are sets of UIDs, ``names`` are the names of folders. None of it
waits, and each size that a server could choose has a bound.

Servers break the grammar, each in its own way. So what nobody asked for is passed over unread, and what was asked for
is read as tolerantly as it can be without guessing; where that fails it is a :class:`ProtocolFault`, and the connection
ends.
"""
