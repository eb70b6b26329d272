"""Proxies that other people wrote, and one that speaks TLS in front of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
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
        #: How it tells what it has connected to.
        self.destination = "connected to {host}:{port}"
        #: Where its own files are, which go with it.
        self.folder = Path(tempfile.mkdtemp(prefix="wsbridge-proxy-"))
        # For servers that become another user.
        self.folder.chmod(0o711)

    def write(self, name: str, *lines: str) -> Path:
        """Write a file into its folder."""
        file = self.folder / name
        file.write_text("".join(f"{line}\n" for line in lines))
        return file

    def run(self, *command: str) -> None:
        """Run the proxy, and wait until it listens."""
        # A group of its own, for those that consist of several processes.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
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

    def reached(self, host: str, port: int) -> None:
        """Wait until it says that it has connected to this, if it tells names at all."""
        self.logged(self.destination.format(host=host, port=port))

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

    def kill(self) -> None:
        """End it at once, so that it can be run again."""
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        self.kill()
        self._placeholder.close()
        shutil.rmtree(self.folder)


def tinyproxy(
    *,
    host: str = "127.0.0.1",
    credentials: tuple[str, str] | None = None,
    only_port: int | None = None,
) -> Proxy:
    """An HTTP proxy, small; with `only_port` it lets through to no other."""
    proxy = Proxy("http", host, credentials)
    lines = [f"Port {proxy.port}", f"Listen {host}", "Timeout 60", "MaxClients 20", "LogLevel Connect"]
    if credentials:
        lines.append("BasicAuth {} {}".format(*credentials))
    if only_port:
        lines.append(f"ConnectPort {only_port}")
    proxy.run("tinyproxy", "-d", "-c", str(proxy.write("tinyproxy.conf", *lines)))
    return proxy


def squid(
    *,
    host: str = "127.0.0.1",
    credentials: tuple[str, str] | None = None,
    only_port: int | None = None,
) -> Proxy:
    """An HTTP proxy, large; with `only_port` it lets through to no other."""
    proxy = Proxy("http", host, credentials)
    lines = [
        f"http_port {proxy.authority}",
        "visible_hostname squid.example",
        "pid_filename none",
        "cache_log /dev/null",
        "access_log none",
        "cache deny all",
        "max_filedescriptors 1024",
        # Requests, as they come in, go to the standard error output.
        "debug_options ALL,1 11,2",
    ]
    if credentials:
        users = proxy.write("users", f"{credentials[0]}:{_hash(credentials[1], '-apr1')}")
        lines += [f"auth_param basic program /usr/lib/squid/basic_ncsa_auth {users}"]
        lines += ["auth_param basic children 1", "acl known proxy_auth REQUIRED", "http_access deny !known"]
    if only_port:
        lines += [f"acl wanted port {only_port}", "http_access deny !wanted"]
    lines.append("http_access allow all")
    proxy.run("squid", "-N", "-d", "2", "-f", str(proxy.write("squid.conf", *lines)))
    return proxy


def _hash(password: str, form: str) -> str:
    done = subprocess.run(
        ["openssl", "passwd", form, password], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def microsocks(*, host: str = "127.0.0.1", credentials: tuple[str, str] | None = None) -> Proxy:
    """A SOCKS 5 proxy, small."""
    proxy = Proxy("socks5h", host, credentials)
    login = ["-u", credentials[0], "-P", credentials[1]] if credentials else []
    proxy.run("microsocks", "-i", host, "-p", str(proxy.port), *login)
    return proxy


def danted(*, host: str = "127.0.0.1", credentials: tuple[str, str] | None = None) -> Proxy:
    """A SOCKS 5 proxy, large."""
    proxy = Proxy("socks5h", host, credentials)
    proxy.destination = f"{host}.{{port}}"
    configuration = proxy.write(
        "danted.conf",
        "logoutput: stderr",
        f"internal: {host} port = {proxy.port}",
        "external: lo",
        "clientmethod: none",
        f"socksmethod: {'username' if credentials else 'none'}",
        "user.privileged: root",
        "user.unprivileged: nobody",
        "client pass {",
        "  from: 0/0 to: 0/0",
        "}",
        "socks pass {",
        "  from: 0/0 to: 0/0",
        "  command: connect",
        "  log: connect",
        "}",
    )
    command = ["danted", "-f", str(configuration), "-N", "1"]
    if credentials:
        # It knows the users of the system alone: it sees another one, and the system stays as it is.
        name, password = credentials
        users = proxy.write("passwd", Path("/etc/passwd").read_text(), f"{name}:x:61111:61111::/:/bin/false")
        shadow = proxy.write("shadow", f"{name}:{_hash(password, '-6')}:19000:0:99999:7:::")
        mounts = f"mount --bind {users} /etc/passwd && mount --bind {shadow} /etc/shadow"
        command = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh", *command]
    proxy.run(*command)
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
