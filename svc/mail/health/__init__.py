"""Sync truth: what a person can see of their accounts, and do about them.

Owns the erasing of an account, and the columns ``cause``, ``provider_total`` and ``erasing`` of ``mail_accounts``.
"""
