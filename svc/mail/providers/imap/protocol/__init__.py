"""IMAP without I/O: bytes of a server in, records out; records in, bytes of a command out.

Theory. A server sends responses (RFC 3501 and 9051, section 7): lines that may hold literals, which are bytes of any
kind with a known length. ``framing`` cuts the stream into responses, ``values`` reads the words of one, ``responses``
interprets it. ``writing`` makes commands, ``sets`` are sets of UIDs, ``names`` are the names of folders. None of it
waits, and each size that a server can choose has a limit.

Servers break the grammar, each in its own way. So a response that we did not ask for is skipped without reading it. One
that we asked for is read as tolerantly as possible without guessing; if that fails, it is a :class:`ProtocolFault`, and
the connection ends.
"""
