"""Proxies that other people wrote, and one that speaks TLS in front of them."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import IO

from .patience import await_truth
from .pump import Pump


class Proxy:
    """A proxy's process on a port of a loopback address; what it logs tells whom it was asked for."""

    def __init__(self, scheme: str, host: str, credentials: tuple[str, str] | None):
        self._scheme = scheme
        self.host = host
        self._credentials = credentials
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Holds the port while nobody listens there: those who set SO_REUSEADDR may bind it as well.
        self._placeholder = socket.socket(family)
        self._placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._placeholder.bind((host, 0))
        self.port: int = self._placeholder.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: Pump | None = None

    def run(self, *command: str) -> None:
        """Run the proxy, and wait until it listens."""
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output: IO[bytes] | None = self._process.stdout
        assert output
        self._pump = Pump(output)
        await_truth(self._listens, f"{command[0]} listens")

    def _listens(self) -> bool:
        assert self._process
        assert self._process.poll() is None, f"the proxy ended: {self.log}"
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection((self.host, self.port)):
            return True
        return False

    @property
    def log(self) -> str:
        return self._pump.text if self._pump else ""

    def logged(self, text: str) -> None:
        """Wait until the proxy has logged this."""
        assert self._pump
        self._pump.until(lambda log: text in log or None, f"{text!r} in the proxy's log")

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The proxy's URL, with its credentials."""
        return self.url_with(self._credentials)

    def url_with(self, credentials: tuple[str, str] | None, scheme: str | None = None) -> str:
        userinfo = "{}:{}@".format(*credentials) if credentials else ""
        return f"{scheme or self._scheme}://{userinfo}{self.authority}"

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        self._placeholder.close()


def tinyproxy(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    credentials: tuple[str, str] | None = None,
    only_port: int | None = None,
) -> Proxy:
    """An HTTP proxy; with `only_port` it lets through to no other."""
    proxy = Proxy("http", host, credentials)
    lines = [f"Port {proxy.port}", f"Listen {host}", "Timeout 60", "MaxClients 20", "LogLevel Connect"]
    if credentials:
        lines.append("BasicAuth {} {}".format(*credentials))
    if only_port:
        lines.append(f"ConnectPort {only_port}")
    configuration = folder / f"tinyproxy-{proxy.port}.conf"
    configuration.write_text("\n".join(lines) + "\n")
    proxy.run("tinyproxy", "-d", "-c", str(configuration))
    return proxy


def microsocks(*, host: str = "127.0.0.1", credentials: tuple[str, str] | None = None) -> Proxy:
    """A SOCKS 5 proxy."""
    proxy = Proxy("socks5h", host, credentials)
    login = ["-u", credentials[0], "-P", credentials[1]] if credentials else []
    proxy.run("microsocks", "-i", host, "-p", str(proxy.port), *login)
    return proxy


class TLSFront:
    """Takes TLS off what comes in for another port: an `http://` proxy becomes an `https://` one."""

    def __init__(self, context: ssl.SSLContext, port: int):
        self._context = context
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with (
            connection,
            contextlib.suppress(OSError),
            self._context.wrap_socket(connection, server_side=True) as secure,
            socket.create_connection(("127.0.0.1", self._target)) as plain,
        ):
            back = threading.Thread(target=_copy, args=[plain, secure], daemon=True)
            back.start()
            _copy(secure, plain)
            back.join()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self._listener.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
