"""Web servers in front of the bridge, as the files in `config/proxies` set them up.

Of these files alone addresses, paths and the time that a reload leaves to old streams are exchanged.
"""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
from pathlib import Path
from typing import Any

from .certificates import Authority
from .environment import ROOT, clean_environment
from .http1 import Client, Response
from .patience import PATIENCE
from .proxies import Proxy
from .stream import Stream
from .wire import SecureAddress

#: The site of the files.
SITE = "bridge.example.org"


class Front(Proxy):
    """A web server that takes TLS off for a bridge, or for whatever listens at `place`."""

    #: The file in `config/proxies`.
    file: str

    def __init__(self, place: int | Path, authority: Authority, *, site: str = SITE, hour: str = "1h"):
        """Start it in front of a port, or of a unix socket as a comment in the file has it.

        `hour` is what it takes for the hour that the file gives to silence.
        """
        super().__init__("https", "127.0.0.1", None)
        self._clients: list[Client] = []
        self.site = site
        #: Whom its certificate is of.
        self.authority_file = str(authority.certificate)
        self._context = ssl.create_default_context(cafile=self.authority_file)
        certificate, key = authority.issue(f"DNS:{site}")
        self.key = self.write("site.key", key.read_text().rstrip("\n"))
        # HAProxy wants both in one file, and the others pass over the key.
        self.certificate = self.write("site.pem", certificate.read_text() + key.read_text().rstrip("\n"))
        text = (ROOT / "config/proxies" / self.file).read_text()
        form = re.search(r"# Or (\S*)/run/wsbridge/wsbridge\.sock", text)
        assert form, "the file does not show how to use a unix socket"
        for shown, here in {
            SITE: site,
            "127.0.0.1:8080": f"127.0.0.1:{place}" if isinstance(place, int) else f"{form[1]}{place}",
            f"/etc/ssl/{site}.pem": str(self.certificate),
            f"/etc/ssl/{site}.key": str(self.key),
            "10s": "1s",
            "1h": hour,
            **self.exchanged(),
        }.items():
            text = text.replace(shown, here)
        assert "/etc/" not in re.sub("#.*", "", text), "a path of the file is not exchanged"
        self.configuration = self.write(self.file, text)
        self.start()

    def exchanged(self) -> dict[str, str]:
        """What else of the file is exchanged."""
        return {}

    def start(self) -> None:
        raise NotImplementedError

    def reload(self) -> None:
        """Have it read its files again."""
        raise NotImplementedError

    def restart(self) -> None:
        """Kill it, and start it anew."""
        self.kill()
        self.start()

    @property
    def access_log(self) -> str:
        """What it has logged of requests."""
        raise NotImplementedError

    # Requests

    @property
    def base(self) -> str:
        return f"https://{self.site}:{self.port}"

    @property
    def _address(self) -> SecureAddress:
        return SecureAddress.of(self.host, self.port, self._context, self.site)

    def _fields(self, fields: dict[str, str] | None) -> dict[str, str]:
        return {"Host": self.site, **(fields or {})}

    def client(self) -> Client:
        return Client(self._address)

    def request(
        self, method: str, target: str, body: bytes | None = None, fields: dict[str, str] | None = None
    ) -> Response:
        with self.client() as client:
            return client.request(
                method, target, body, self._fields({"Connection": "close"} | (fields or {}))
            )

    def stream(self, target: str = "/events", fields: dict[str, str] | None = None, **options: Any) -> Stream:
        stream = Stream(self._address, target, self._fields(fields), **options)
        self._clients.append(stream.client)
        return stream.opened()

    def signal(self, number: signal.Signals) -> None:
        assert self._process
        os.kill(self._process.pid, number)

    def stop(self) -> None:
        for client in self._clients:
            client.wire.close()
        super().stop()


class Nginx(Front):
    file = "nginx.conf"

    def exchanged(self) -> dict[str, str]:
        return {
            "listen 443": f"listen {self.host}:{self.port}",
            "/var/log/nginx/wsbridge.log": str(self.folder / "access.log"),
            "/var/log/nginx/wsbridge-error.log": str(self.folder / "error.log"),
        }

    def start(self) -> None:
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        main = self.write(
            "main.conf",
            "daemon off;",
            f"pid {self.folder}/pid;",
            "error_log stderr;",
            "worker_shutdown_timeout 1s;",
            "events {}",
            "http {",
            *(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds),
            f"include {self.configuration};",
            "}",
        )
        self.run("nginx", "-c", str(main))

    def reload(self) -> None:
        self.signal(signal.SIGHUP)

    @property
    def access_log(self) -> str:
        return (self.folder / "access.log").read_text()


class Caddy(Front):
    file = "Caddyfile"

    def exchanged(self) -> dict[str, str]:
        own = ["admin " + self._admin, f"https_port {self.port}", f"default_bind {self.host}"]
        own += ["auto_https disable_redirects", ""]
        return {
            "{\n\t# A reload": "{\n\t" + "\n\t".join(own) + "\n\t# A reload",
            "/var/log/caddy/wsbridge.log": str(self.folder / "access.log"),
        }

    @property
    def _admin(self) -> str:
        return f"unix/{self.folder}/admin.sock"

    def _command(self, verb: str) -> list[str]:
        folders = [f"{name}={self.folder}" for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")]
        place = ["--config", str(self.configuration), "--adapter", "caddyfile"]
        return ["env", *folders, "caddy", verb, *place]

    def start(self) -> None:
        self.run(*self._command("run"))

    def reload(self) -> None:
        # Nothing has changed, which it would rather leave alone.
        command = [*self._command("reload"), "--force", "--address", self._admin]
        done = subprocess.run(
            command, capture_output=True, text=True, env=clean_environment(), timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr

    @property
    def access_log(self) -> str:
        return (self.folder / "access.log").read_text()


class HAProxy(Front):
    file = "haproxy.cfg"

    def exchanged(self) -> dict[str, str]:
        return {"bind :443": f"bind {self.host}:{self.port}"}

    def start(self) -> None:
        self.run("haproxy", "-W", "-db", "-f", str(self.configuration))

    def reload(self) -> None:
        self.signal(signal.SIGUSR2)

    @property
    def access_log(self) -> str:
        return self.log


FRONTS = {"nginx": Nginx, "caddy": Caddy, "haproxy": HAProxy}
