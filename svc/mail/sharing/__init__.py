"""Accounts that their owners share with named people, to read or to act in."""
