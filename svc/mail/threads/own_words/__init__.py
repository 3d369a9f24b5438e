"""What the owner wrote last in a thread, sent or drafted: the lists of Sent and Drafts are about that."""
