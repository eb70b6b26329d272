"""The product, started as a user starts it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .environment import BINARY, clean_environment
from .http1 import Client, Response
from .network import IsolatedNetwork
from .patience import Deadline, await_truth
from .pump import Pump
from .secure import LocalTLS
from .stream import Stream
from .wire import SecureAddress


class Bridge:
    """A running `wsbridge`."""

    #: Where it is set, bridges that serve speak TLS to their clients.
    tls: LocalTLS | None = None

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str] | None = None,
        wrapper: Iterable[str] = (),
        binary: Path = BINARY,
        folder: Path | None = None,
        namespace: IsolatedNetwork | None = None,
    ):
        """Start `wsbridge` with these arguments in `folder`.

        `wrapper` is a command that runs it, such as strace; in `namespace` it has a network of its own.
        """
        self._place: contextlib.AbstractContextManager[object] = namespace or contextlib.nullcontext()
        wrapper = [*(namespace.wrapper if namespace else []), *wrapper]
        if self.tls and arguments[0] == "serve":
            arguments = tuple(self.tls.added(arguments))
        self._arguments = arguments
        assert binary.exists(), f"{binary} is missing: build it, or set WSBRIDGE_BINARY"
        self.process = subprocess.Popen(
            [*wrapper, str(binary), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(**(environment or {})),
        )
        assert self.process.stdout
        assert self.process.stderr
        self.out = Pump(self.process.stdout)
        self.err = Pump(self.process.stderr)
        #: The process to signal; it differs from `process.pid` below a wrapper.
        self.pid = self.process.pid
        self.address: tuple[str, int] = ("", 0)
        self._clients: list[Client] = []

    @classmethod
    def serve(
        cls,
        upstream: str,
        *arguments: str,
        environment: dict[str, str] | None = None,
        listen: str = "127.0.0.1:0",
        **options: Any,
    ) -> Bridge:
        """Start `wsbridge serve` on a free port with JSON logs, and wait until it listens."""
        flags = ["--upstream", upstream, "--listen", listen, "--log-format", "json"]
        bridge = cls("serve", *flags, *arguments, environment=environment, **options)
        return bridge.listening()

    def listening(self) -> Bridge:
        """Wait for the `listening` record, in either log format, and take the address from it."""

        def find(text: str) -> tuple[str, str] | None:
            for line in text.splitlines():
                if "listening" in line and (match := re.search(r"(\d+\.\d+\.\d+\.\d+):(\d+)", line)):
                    return match[1], match[2]
            return None

        host, port = self.err.until(find, "the record `listening`")
        host = "127.0.0.1" if host == "0.0.0.0" else host
        self.address = SecureAddress.of(host, int(port), self.tls.context) if self.tls else (host, int(port))
        return self

    @property
    def base(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.address[0]}:{self.address[1]}"

    @property
    def flags(self) -> list[str]:
        """By which the commands that talk to a bridge find this one."""
        configuration = (
            ["--config", self._arguments[self._arguments.index("--config") + 1]] if self.tls else []
        )
        return [*configuration, "--listen", f"{self.address[0]}:{self.address[1]}"]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The log so far, for `--log-format json`; every line must be a record."""
        return [json.loads(line) for line in self.err.text.splitlines()]

    # Requests

    def client(self) -> Client:
        """Connect; the connection is closed with the bridge at the latest."""
        with self._place:
            client = Client(self.address)
        self._clients.append(client)
        return client

    def request(
        self, method: str, target: str, body: bytes | None = None, fields: dict[str, str] | None = None
    ) -> Response:
        with self._place:
            client = Client(self.address)
        with client:
            return client.request(method, target, body, {"Connection": "close", **(fields or {})})

    def get(self, target: str, fields: dict[str, str] | None = None) -> Response:
        return self.request("GET", target, fields=fields)

    def post(
        self, target: str, body: bytes = b"", content_type: str | None = "text/plain", **fields: str
    ) -> Response:
        """POST; keyword arguments are further header fields, their underscores read as hyphens."""
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        if content_type is not None:
            named["Content-Type"] = content_type
        return self.request("POST", target, body, named)

    def send(self, message: str) -> Response:
        """POST a text message, which must be accepted."""
        response = self.post("/messages", message.encode())
        assert response.status == 202, response
        return response

    def stream(self, target: str = "/events", fields: dict[str, str] | None = None, **options: Any) -> Stream:
        """Open an event stream, and wait until it has begun."""
        return self.ask_for_stream(target, fields, **options).opened()

    def ask_for_stream(
        self, target: str = "/events", fields: dict[str, str] | None = None, **options: Any
    ) -> Stream:
        """Ask for an event stream, whatever the answer is."""
        with self._place:
            stream = Stream(self.address, target, fields, **options)
        self._clients.append(stream.client)
        return stream

    def status(self) -> dict[str, Any]:
        response = self.get("/status")
        assert response.status == 200, response
        return response.json()

    def await_status(self, holds: Callable[[dict[str, Any]], Any], what: str) -> dict[str, Any]:
        """Ask for the status until it is as wanted, and return it."""
        status: dict[str, Any] = {}

        def question() -> bool:
            nonlocal status
            status = self.status()
            return bool(holds(status))

        try:
            await_truth(question, what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the last status: {status}") from error
        return status

    def await_ready(self) -> dict[str, Any]:
        return self.await_status(lambda status: status["ready"], "the connection is ready")

    # Its end

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def exit_code(self) -> int:
        """Wait for the process to end by itself and return its code; its output is complete then."""
        code = self.process.wait(Deadline("the process ends").left())
        self.out.join()
        self.err.join()
        return code

    def stop(self) -> None:
        """End it by SIGTERM; it must have been alive, and must end cleanly."""
        assert self.process.poll() is None, f"it died with {self.process.returncode}:\n{self.err.text}"
        self.signal(signal.SIGTERM)
        code = self.exit_code()
        assert code == 0, f"exit code {code}:\n{self.err.text}"

    def finish(self) -> None:
        """Leave nothing behind, whatever happened; a bridge that still runs must stop cleanly."""
        for client in self._clients:
            client.wire.close()
        if self.process.returncode is not None:
            return
        try:
            self.stop()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
