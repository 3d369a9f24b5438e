"""Reads and writes content from strangers: mail, HTML, text. Pure; runs in worker processes."""
