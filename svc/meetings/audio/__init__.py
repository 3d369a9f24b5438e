"""Sound as bytes: how long Opus packets last, and how WAV and Ogg files are written. Pure; knows no disk."""
