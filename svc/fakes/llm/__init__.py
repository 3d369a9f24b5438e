"""A deterministic stand-in for both model vendors: it gives scripted answers in the wire format of either vendor."""
