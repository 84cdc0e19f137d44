"""Write the files of all cases below a folder, one folder a case."""

import sys
from pathlib import Path

from . import CASES

if __name__ == "__main__":
    root = Path(sys.argv[1])
    sys.stdout.reconfigure(errors="backslashreplace")  # not every name is UTF-8
    for number, case in enumerate(CASES):
        folder = root / f"{number:03d}"
        folder.mkdir(parents=True)
        print(number, case.name, case.make(folder), case.refused or "loads", sep="\t")
