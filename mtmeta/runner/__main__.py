"""``python -m mtmeta.runner book | refresh``."""

import sys

from ._book import main

if __name__ == "__main__":
    sys.exit(main())
