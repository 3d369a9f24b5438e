"""Speech to text behind one seam: a vendor's stream, any server of the common transcription call, a program of this
machine, and under ``PROVIDERS=fake`` a deterministic one. Which one it is, an admin chooses (``choice.py``)."""
