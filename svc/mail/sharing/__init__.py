"""Sharing accounts: owners share their accounts with named people, who may then read them or also act in them."""
