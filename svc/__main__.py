"""``python -m svc`` is ``svc``."""

import sys

from svc.cli import main

if __name__ == "__main__":
    sys.exit(main())
