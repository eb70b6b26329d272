"""Bridges that speak TLS to their clients."""

from __future__ import annotations

import json
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from .certificates import Authority


class LocalTLS:
    """A certificate for bridges, and how clients check it."""

    def __init__(self, authority: Authority, folder: Path):
        self._folder = folder
        self._count = 0
        self.certificate, self.key = authority.issue("DNS:localhost", "IP:127.0.0.1")
        self.context = ssl.create_default_context(cafile=str(authority.certificate))

    @property
    def settings(self) -> dict[str, str]:
        return {"certificate": str(self.certificate), "key": str(self.key)}

    def added(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments with a configuration file that has this certificate, too."""
        words = list(arguments)
        if "--config" in words:
            given = Path(words[words.index("--config") + 1])
            words[words.index("--config") + 1] = str(self.secured(given))
        else:
            self._count += 1
            path = self._folder / f"tls{self._count}.yaml"
            path.write_text(json.dumps({"http": {"tls": self.settings}}))
            words += ["--config", str(path)]
        return words

    def secured(self, given: Path) -> Path:
        """Write what the configuration file has beside it, with this certificate, too."""
        path = given.with_name(f"tls-{given.name}")
        settings: dict[str, Any] = yaml.safe_load(given.read_text()) or {}
        settings["http"] = {**(settings.get("http") or {}), "tls": self.settings}
        path.write_text(json.dumps(settings))
        return path
