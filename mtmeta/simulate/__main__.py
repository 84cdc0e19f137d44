"""Write the files of the teaching campaign: ``python -m mtmeta.simulate --write``."""

import argparse

from ._frozen import FOLDER, write


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m mtmeta.simulate", description="The teaching campaign of mtmeta.")
    parser.add_argument(
        "--write", action="store_true", required=True, help=f"simulate it and write its files to {FOLDER}"
    )
    parser.parse_args()
    for path in write():
        print(f"{path} {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
