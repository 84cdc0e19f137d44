"""The command line in a process of its own, and a table for it."""

import subprocess
import sys

#: The example of `correlate`'s docstring: X has never read a translation, Y knows which system is better.
TABLE = """system,segment,human,X,Y
A,1,0,.9,.5
A,2,-6,.2,.5
B,1,-1,.9,.4
B,2,-7,.2,.4
C,1,-1,.9,.4
C,2,-5,.2,.6
"""


def in_a_process(*arguments, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "mtmeta", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)
