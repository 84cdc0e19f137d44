"""Run the command line with ``python -m mtmeta``, or as ``mtmeta``."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is imported is one line, too."""
    try:
        from .cli import main as run

        run()
    except KeyboardInterrupt:
        print("mtmeta: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
