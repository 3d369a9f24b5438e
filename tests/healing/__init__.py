"""How damage is found, recorded and mended."""
