"""OpenSSL's own server, `openssl s_server`: TLS by its makers, with the test behind it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .pump import Pump
from .raw_upstream import accept_value

_REQUEST = re.compile(r"GET \S+ HTTP/1\.1\r\n.*?\r\n\r\n", re.DOTALL)


class OpenSSLServer:
    """Serves one connection after the other; what the test says goes out over TLS."""

    def __init__(self, certificate: Path, key: Path, *options: str):
        self._process = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        assert self._process.stdout
        self._output = Pump(self._process.stdout)
        self._requests = 0
        self.port = self.said(r"ACCEPT 127\.0\.0\.1:(\d+)")[1]

    @property
    def url(self) -> str:
        return f"wss://127.0.0.1:{self.port}/"

    def said(self, pattern: str) -> re.Match[str]:
        """Wait until it has said this."""
        return self._output.until(lambda text: re.search(pattern, text), f"{pattern!r} of s_server")

    def say(self, data: bytes) -> None:
        """Send; a line that is `R`, `Q` and the like is an order instead."""
        assert self._process.stdin
        self._process.stdin.write(data)

    def accept_handshake(self) -> None:
        """Answer the next WebSocket handshake."""
        self._requests += 1

        def find(text: str) -> str | None:
            requests = _REQUEST.findall(text)
            return requests[self._requests - 1] if len(requests) >= self._requests else None

        request = self._output.until(find, f"handshake request {self._requests}")
        self.say(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept_value(request.encode())
        )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._output.join()
        if self._process.stdin:
            self._process.stdin.close()
