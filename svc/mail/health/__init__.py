"""The health of accounts: the state of their sync that a person can see, and actions on an account as a whole.

Owns the erasing of an account, but no table: what it shows and sets of an account is written by ``accounts``.
"""
