"""Reads mail: turns raw RFC 5322 bytes into the parts that the product needs. All providers and our own sends use it.

Owns the tolerance: real mail breaks every rule, hostile mail on purpose, and neither may raise, hang or put a control
character into the database. The standard library's ``email`` recurses on nested parts, groups and comments, and takes
quadratic time on some; so the splitter and the header readers are our own, and ``binascii`` decodes the leaves.

The modules: ``message`` puts it together; ``parts`` splits, ``fields`` reads header blocks and parameters, ``words``
the encoded words, ``addresses``, ``dates``, ``names`` (of files), ``charsets``, ``transfer`` encodings; ``model`` has
the records and all limits.
"""

from svc.formats.mime.message import HEAD_ONLY, parse_head_only, parse_message
from svc.formats.mime.model import Attachment, Mailbox, ParsedMessage

__all__ = ["HEAD_ONLY", "Attachment", "Mailbox", "ParsedMessage", "parse_head_only", "parse_message"]
