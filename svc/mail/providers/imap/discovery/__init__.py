"""Finds the mail servers of an address: from the list of known providers, then from its domain, then by usual names."""
