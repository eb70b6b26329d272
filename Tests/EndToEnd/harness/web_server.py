"""An HTTP server (Python's own) whose answers a test decides; it remembers what it was asked."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .network import IsolatedNetwork
from .patience import Deadline


@dataclass
class WebRequest:
    method: str
    target: str
    headers: Message
    body: bytes


@dataclass
class WebAnswer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    #: In place of the time of day.
    date: str | None = None


class WebServer:
    """Serves on a free port of `host` (in `namespace`) until it is stopped."""

    def __init__(
        self,
        answer: Callable[[WebRequest], WebAnswer],
        *,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        namespace: IsolatedNetwork | None = None,
    ):
        """`answer` is called on a thread of its own for each request."""
        self._answer = answer
        self._host = host
        self._news = threading.Condition()
        self.requests: list[WebRequest] = []
        #: Set when the server stops: answers that wait for nothing else should wait for this.
        self.stopping = threading.Event()
        self._scheme = "https" if tls else "http"
        with namespace or contextlib.nullcontext():
            self._server = ThreadingHTTPServer((host, 0), self._handler())
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self._host}:{self.port}"

    def asked(self, count: int = 1) -> list[WebRequest]:
        """Wait for this many requests in all, and return them."""
        deadline = Deadline(f"request {count} at the web server")
        with self._news:
            while len(self.requests) < count:
                self._news.wait(deadline.left())
        return self.requests[:count]

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            close_connection = True

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = WebRequest(self.command, self.path, self.headers, body)
                with owner._news:
                    owner.requests.append(request)
                    owner._news.notify_all()
                answer = owner._answer(request)
                with contextlib.suppress(OSError):  # whoever asked may have left
                    self.send_response_only(answer.status)
                    self.send_header("Date", answer.date or self.date_time_string())
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(answer.body)))
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.wfile.write(answer.body)
                self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        return Handler
