"""One mailbox at Gmail, behind the seam in ``mail/provider.py``: OAuth, the REST API v1, its faults and its quota."""
