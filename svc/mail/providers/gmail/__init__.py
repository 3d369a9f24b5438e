"""One mailbox at Gmail, behind the seam (``mail/providers/seam.py``): OAuth, the REST API v1, its faults and quota."""
