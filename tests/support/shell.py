"""Lines of a shell, and a table for them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

#: The example of `correlate`'s docstring: X has never read a translation, Y knows which system is better.
TABLE = """system,segment,human,X,Y
A,1,0,.9,.5
A,2,-6,.2,.5
B,1,-1,.9,.4
B,2,-7,.2,.4
C,1,-1,.9,.4
C,2,-5,.2,.6
"""


def run_lines(text, run):
    """Yield exit code, stdout and stderr of lines: plain commands of `mtmeta` run in this process, by a function."""
    commands = (part.strip() for line in text.replace("\\\n", " ").splitlines() for part in line.split("&&"))
    for command in filter(None, commands):
        if plain := re.fullmatch(r"mtmeta (?!run )([^|<>;&$]*)(?:> (\S+))?", command):
            code, out, err = run(*shlex.split(plain[1], comments=True))
            if plain[2]:
                Path(plain[2]).write_text(out)
            yield code, out, err
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            options = {"env": os.environ | {"PATH": path}, "capture_output": True, "text": True, "check": False}
            done = subprocess.run(["bash", "-ec", command], **options)
            yield done.returncode, done.stdout, done.stderr
