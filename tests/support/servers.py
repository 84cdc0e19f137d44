"""A local server with a small made-up set, good and bad; the fixtures that register it."""

import contextlib
import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from mtmeta.datasets import _registry

#: Upstream path to content. Names need quoting, sizes differ, one file is empty.
FILES = {
    "a/one.txt": b"one\n" * 50_000,
    "a/two+(zs).txt": b"two\n",
    "b/three.txt": bytes(range(256)) * 300,
    "b/empty.txt": b"",
}
WHOLE = {f"folder/{path}": content for path, content in FILES.items()}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves ``files``; ``faults[path]`` is what goes wrong with a path: cut, flip, 404 or 503 (once).

    ``ranges`` has where the rest of a file began that was asked for, and its length; the fault "whole" ignores that.
    """

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.faults, self.requests, self.ranges = dict(files), {}, [], []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/up/"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = unquote(self.path).removeprefix("/up/")
        self.server.requests.append(path)
        fault = self.server.faults.get(path)
        if fault == "503 once":
            del self.server.faults[path]
            return self.send_error(503)
        if fault == "404" or path not in self.server.files:
            return self.send_error(404)
        content = self.server.files[path]
        if fault == "flip":
            content = content[:7] + bytes([content[7] ^ 1]) + content[8:]
        start = int((self.headers["Range"] or "bytes=0-")[6:-1]) if fault != "whole" else 0
        self.send_response(206 if start else 200)
        if start:
            self.server.ranges.append((start, len(content) - start))
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        content = content[start:]
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault == "cut" else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Return a function that starts a server; all are stopped at the end."""
    with contextlib.ExitStack() as stack:

        def start(server):
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return server

        yield start


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Return a function that registers a set from lines; nothing else is registered, no retry waits."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr(_registry, "REGISTRY", folder)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)

    def register(url, lines, name="small"):
        text = f"# title: made up\n# licence: none needed\n# cite: Nobody\n@\t{url}\tfolder\n"
        (folder / f"{name}.tsv").write_text(text + "".join(f"{line}\n" for line in lines))

    return register


@pytest.fixture
def server(serve, registry):
    server = serve(Server(FILES))
    registry(server.url, [f"{sha256(content)}\t{len(content)}\t{path}" for path, content in FILES.items()])
    return server
