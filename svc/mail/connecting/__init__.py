"""Connecting an account, by OAuth or by a password, and keeping its grant or password."""
