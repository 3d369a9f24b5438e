"""What strangers send, read and written: mail, HTML, text. Pure; runs in worker processes."""
