"""`python -m pssa` is `pssa`."""

import sys

from pssa.cli import main

if __name__ == "__main__":
    sys.exit(main())
