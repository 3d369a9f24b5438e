"""Audio formats: the duration of Opus packets, and writers of WAV and Ogg files. Pure; does not touch the disk."""
