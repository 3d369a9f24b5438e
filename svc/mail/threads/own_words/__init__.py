"""The owner's own newest message in a thread, sent or drafted: the lists Sent and Drafts show it."""
