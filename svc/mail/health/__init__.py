"""The health of accounts: the state of their sync that a person can see, and actions on an account as a whole.

Owns the erasing of an account, and the columns ``cause``, ``provider_total`` and ``erasing`` of ``mail_accounts``.
"""
