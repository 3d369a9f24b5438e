"""A deterministic stand-in of both model vendors: it says what it was scripted to, in the words of either's wire."""
