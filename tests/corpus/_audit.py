"""What a piece of code does to the world: files written, programs and code run, connections opened."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

import mtmeta

pa.table(pd.DataFrame({"x": pd.array([1], dtype="Int64")})).to_pandas()  # what is imported with the first such table

_ACTS = {
    "exec", "pickle.find_class", "ctypes.dlopen", "code.__new__", "function.__new__",
    "subprocess.Popen", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.startfile", "pty.spawn",
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto", "urllib.Request",
    "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.utime", "shutil.rmtree", "shutil.unpack_archive", "tempfile.mkstemp", "tempfile.mkdtemp",
}  # fmt: skip
_LIBRARIES = (sys.prefix, sys.base_prefix, str(Path(mtmeta.__file__).parent))
_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_seen: list[tuple[str, str]] | None = None


def _is_of_library(code):
    """Say whether code is a module that is imported, or what `collections.namedtuple` makes of names it has checked."""
    if code.co_name == "<module>" and code.co_filename.startswith(_LIBRARIES):
        return True
    return code.co_filename == "<string>" and any("_tuple_new" in getattr(c, "co_names", ()) for c in code.co_consts)


def _hook(event, args):
    global _seen
    if _seen is None:
        return
    if event == "open":
        path, _, flags = args
        if isinstance(path, str) and flags & _WRITE and path != os.devnull and "__pycache__" not in path:
            _seen.append((event, repr(path)))
    elif event in _ACTS and not (event == "exec" and _is_of_library(args[0])):
        seen, _seen = _seen, None  # what follows must not be noted
        seen.append((event, repr(args)[:200]))
        _seen = seen


sys.addaudithook(_hook)


@contextmanager
def watched():
    """Yield a list that fills with what the code inside does; importing modules beforehand keeps it short."""
    global _seen
    _seen = seen = []
    try:
        yield seen
    finally:
        _seen = None


def snapshot(folder):
    """Return everything below a folder: what links point at, and the content and time of change of files."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            state = path.stat()
            found[name] = (state.st_size, state.st_mtime_ns)
        else:
            found[name] = "folder" if path.is_dir() else "other"
    return found
