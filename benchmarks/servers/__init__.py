"""The peers and limits of the HTTP benchmark, each a program of its own that serves on an inherited listener."""
