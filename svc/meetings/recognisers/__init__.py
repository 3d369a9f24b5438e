"""Speech to text behind one interface: a vendor's stream, any server of the common transcription call, a program of
this machine, and under ``PROVIDERS=fake`` a deterministic one. An admin chooses which (``choice.py``).
"""
