"""The stored state of an IMAP mailbox: the place of each message, and the list of changes for sync, in order.

Theory. The server's state is compared with the stored state. Each difference is stored as a change, in the same
transaction as the new state. So even if the process dies, no change is lost, and the changes always fit the state. The
cursor of a mailbox is the number of the last change that sync has applied.

A message keeps its id for ever. One that vanished from its folder is *lost* until all folders were read once more. If a
message with the same mark arrives meanwhile, it is the same one: it was moved, or its folder got new UIDs. A message
that is still lost after that was deleted.
"""
