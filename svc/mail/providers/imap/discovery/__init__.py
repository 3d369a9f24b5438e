"""Where the servers of an address are: what is known, what its domain says, and what is mostly so, in that order."""
