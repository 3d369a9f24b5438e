"""How blobs get to another place, stay there, and go from there."""
