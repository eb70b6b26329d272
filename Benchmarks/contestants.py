"""How each contestant is started."""

from __future__ import annotations

import shutil
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).parent / "peers"

#: The core of the server; the load tool has the other one.
SERVER_CORE = 0
LOAD_CORE = 1


@dataclass
class Ports:
    """Free a moment ago; each measurement has its own."""

    upstream: int
    listen: int

    @staticmethod
    def free() -> Ports:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            return Ports(one.getsockname()[1], other.getsockname()[1])


@dataclass
class Tools:
    """Where the programs are."""

    at: Path

    @property
    def python(self) -> str:
        return str(self.at / "venv/bin/python")

    def folder(self, name: str) -> Path:
        """Return an empty folder; the one of the last measurement is gone then."""
        folder = Path(tempfile.gettempdir()) / f"wsbridge-bench-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder


def command(
    contestant: str, tools: Tools, ports: Ports, links: int, message_bytes: int
) -> tuple[list[str], bool]:
    """Return what starts a contestant, and whether its messages come from a WebSocket upstream.

    Of several upstreams the first one, that of the connection `c0`, is asked for `/`.
    """
    upstream = f"ws://127.0.0.1:{ports.upstream}/"
    numbers = [str(ports.upstream), str(ports.listen)]
    if contestant in ("wsbridge", "wsbridge, suspended", "wsbridge on disk"):
        mode = "suspended" if contestant.endswith("suspended") else "detached"
        wsbridge = ["env", f"WSBRIDGE_STREAM_MODE={mode}"]
        wsbridge += [str(tools.at / "wsbridge"), "serve", "--listen", f"127.0.0.1:{ports.listen}"]
        wsbridge += ["--log-level", "error"]
        if contestant.endswith("on disk"):
            wsbridge += ["--data-dir", str(tools.folder("store"))]
        if links == 1:
            return [*wsbridge, "--upstream", upstream], True
        configuration = tools.folder("config") / "wsbridge.yaml"
        lines = [f"  c{index}: {{ url: '{upstream}{index or ''}' }}\n" for index in range(links)]
        configuration.write_text("connections:\n" + "".join(lines))
        return [*wsbridge, "--config", str(configuration)], True
    if contestant == "limit":
        return [str(tools.at / "limit"), *numbers], True
    if contestant.startswith("limit on"):
        program = "limit_on_microhttpd" if "libmicrohttpd" in contestant else "limit_on_disk"
        database = [str(tools.folder("store") / "database")] if "disk" in contestant else []
        return [str(tools.at / program), *numbers, *database], True
    if contestant == "limit, each by itself":
        return [str(tools.at / "limit"), *numbers, "each"], True
    if contestant == "aiohttp":
        return [tools.python, str(PEERS / "aiohttp_bridge.py"), *numbers], True
    if contestant.startswith("Nchan"):
        return ["nginx", "-c", str(nchan_configuration(contestant, tools, ports, message_bytes))], False
    if contestant == "wsbridge's client":
        return [str(tools.at / "codec-client"), upstream], True
    library = contestant.removesuffix("'s client")
    return [tools.python, str(PEERS / "websocket_clients.py"), library, numbers[0]], True


def nchan_configuration(contestant: str, tools: Tools, ports: Ports, message_bytes: int) -> Path:
    folder = tools.folder("nchan")
    text = (PEERS / "nginx.conf.in").read_text()
    workers = "2" if contestant.endswith("2 workers") else "1"
    values = {
        "WORKERS": workers,
        "PORT": str(ports.listen),
        "FOLDER": str(folder),
        # What it holds has to fit into its shared memory.
        "MESSAGES": str(min(1000, (64 << 20) // message_bytes)),
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    path = folder / "nginx.conf"
    path.write_text(text)
    return path
