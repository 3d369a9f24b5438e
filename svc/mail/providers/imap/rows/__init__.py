"""The rows of a mailbox by IMAP: where each message lies, and what changed, in the order in which sync hears of it.

Theory. What a server has is compared with what it had, and each difference is written down as a change, in the same
transaction as the new state. So a change is never lost and never told of another state, wherever a process dies; and
where a mailbox stands (its cursor) is the number of the last change that was taken in.

A message keeps its id for good. One that vanished from its folder is *lost* until all folders were asked once more: a
message that arrives meanwhile with the same mark is the same one, moved or in a folder that was numbered anew. What is
then still lost was deleted.
"""
