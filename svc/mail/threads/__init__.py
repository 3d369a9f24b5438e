"""Threads and their messages: the rows that lists show, kept by whoever writes."""
