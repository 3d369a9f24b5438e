"""Pictures in mail: remote pictures, which load through a proxy and only on request, and senders who are trusted, so
that their pictures always load."""
