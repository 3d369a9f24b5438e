"""Threads and their messages: the rows that lists show, kept up to date at each write."""
