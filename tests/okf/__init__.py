"""Pages and the files below okf/, both ways."""
