"""One exchange with an untrusted server, whose bytes are metered where they leave the socket.

The HTTP library reads headers, redirects, chunk sizes and trailers deep inside. Time and bytes are therefore counted
below it, in the one place through which all data pass.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.exceptions import TimeoutError as SlowError

__all__ = ["FAULTS", "Meter", "opened", "pause", "reason"]

#: What a server or the way to it can make the library raise; `ValueError` is for addresses that are none.
FAULTS = (requests.RequestException, HTTPError, ValueError)
_SILENCE = 30  # seconds without an answer
_REDIRECTS = 5
_OBJECT = r"^\w+\(.*?\): |\[Errno -?\d+\] "  # what the library says of itself
_TRANSIENT = (408, 429)  # answers below 500 that are worth another attempt


class _Refused(requests.RequestException):
    """A redirect that is not followed."""


class Meter:
    """The time and the bytes that a file may still take, over all its redirects and attempts."""

    def __init__(self, seconds: float, bytes_left: int) -> None:
        self.deadline = time.monotonic() + seconds
        self.bytes_left = bytes_left

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, 0 when it has passed."""
        return max(0.0, self.deadline - time.monotonic())

    def allow(self) -> float:
        """Return the seconds to wait for the next bytes; raise if no more may come."""
        if self.bytes_left < 0 or not self.seconds_left:
            raise TimeoutError("nothing more may come")
        return min(self.seconds_left, _SILENCE)


class _Metered(io.RawIOBase):
    """The bytes of a socket, as long as the meter allows them."""

    def __init__(self, sock: Any, raw: io.RawIOBase, meter: Meter) -> None:
        self._sock, self._raw, self._meter = sock, raw, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._meter.allow())
        found = self._raw.readinto(buffer)
        self._meter.bytes_left -= found or 0
        return found

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Options(list):
    """The options of a socket, asked for before each address of a host is tried."""

    def __init__(self, options: Any, meter: Meter) -> None:
        super().__init__(options or ())
        self._meter = meter

    def __iter__(self) -> Iterator:
        self._meter.allow()
        return super().__iter__()


class _Adapter(HTTPAdapter):
    """Gives connections that are metered."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        super().__init__()

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **options)
        meter = self._meter

        class Answer(HTTPResponse):
            def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
                super().__init__(sock, *args, **options)
                self.fp = io.BufferedReader(_Metered(sock, self.fp.detach(), meter))

        class Connection(pool.ConnectionCls):
            response_class = Answer

            def connect(self) -> None:
                self.timeout = meter.allow()
                self.socket_options = _Options(self.socket_options, meter)
                super().connect()

        pool.ConnectionCls = Connection
        return pool


class _Session(requests.Session):
    def __init__(self, meter: Meter) -> None:
        super().__init__()
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter(meter))

    def get_redirect_target(self, resp: Any) -> None:
        """Follow no redirect: the library would read the body of its answer."""


@contextmanager
def opened(url: str, meter: Meter, start: int = 0) -> Iterator[tuple[Any, bool]]:
    """Yield a reader of the content at an address, as it is sent, and whether it begins at byte ``start``.

    Raise one of `FAULTS` if there is none. A server that cannot begin in the middle gives the whole content.
    """
    plain = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    for _ in range(1 + _REDIRECTS):
        with _Session(meter) as session, session.get(url, stream=True, headers=plain, timeout=_SILENCE) as answer:
            if not answer.is_redirect:
                part = answer.headers.get("Content-Range", "") if answer.status_code == 206 and start else ""
                continues = part.startswith(f"bytes {start}-")
                if answer.status_code != 200 and not continues:
                    raise requests.HTTPError(response=answer)
                yield answer.raw, continues
                return
            new = urljoin(url, answer.headers["Location"])
        if urlsplit(new).scheme not in ("https", urlsplit(url).scheme):
            raise _Refused(f"it is redirected to {_short(new)!r}, which is not {urlsplit(url).scheme}")
        url = new
    raise _Refused(f"it is redirected more than {_REDIRECTS} times")


def pause(error: Exception, least: float) -> float | None:
    """Return the seconds to wait before another attempt; None if another would not help."""
    answer = getattr(error, "response", None)
    if isinstance(error, (ValueError, _Refused)):
        return None
    if answer is None:
        return least
    if answer.status_code < 500 and answer.status_code not in _TRANSIENT:
        return None
    asked = answer.headers.get("Retry-After", "")
    return max(least, min(int(asked), 60)) if re.fullmatch("[0-9]{1,9}", asked) else least


def reason(error: Exception) -> str:
    """Say in a few words why a request failed."""
    if isinstance(error, requests.HTTPError):
        return f"the server answered {error.response.status_code} {error.response.reason or ''}".rstrip()[:100]
    if isinstance(error, _Refused):
        return str(error)
    if isinstance(error, (requests.Timeout, SlowError)):
        return f"the server did not answer within {_SILENCE} s"
    if isinstance(error, ValueError):
        return f"the server's answer makes no sense ({_short(error)})"
    inner = getattr(error.args[0], "reason", error.args[0]) if error.args else error
    if isinstance(error, HTTPError) or isinstance(inner, ProtocolError):
        return "the connection was cut, or the content damaged, on the way"
    return f"the connection failed ({_short(re.sub(_OBJECT, '', str(inner)))})"


def _short(what: object) -> str:
    return text if len(text := " ".join(str(what).split())) <= 200 else f"{text[:200]} …"
