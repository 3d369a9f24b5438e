"""Reading mail: gives a browser the sanitized messages of a thread, raw messages, and attachments as a zip."""
