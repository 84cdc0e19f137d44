"""Run the command line with ``python -m mtmeta``, or as ``mtmeta``."""

from .cli import main

if __name__ == "__main__":
    main()
