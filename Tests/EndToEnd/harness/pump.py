"""The output of a child process, read as it comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import IO, TypeVar

from .patience import Deadline

T = TypeVar("T")


class Pump:
    """Reads a pipe in a thread of its own, so that the child never blocks on it."""

    def __init__(self, pipe: IO[bytes]):
        self._pipe = pipe
        self._bytes = bytearray()
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        with self._news:
            return self._bytes.decode("utf-8", "replace")

    def until(self, find: Callable[[str], T | None], what: str, seconds: float | None = None) -> T:
        """Wait until `find` makes something of the output so far; the output's end raises `EOFError`."""
        deadline = Deadline(what, seconds)
        with self._news:
            while True:
                text = self._bytes.decode("utf-8", "replace")
                if (found := find(text)) is not None:
                    return found
                if self._ended:
                    raise EOFError(f"the output ended without {what}:\n{text}")
                try:
                    self._news.wait(deadline.left())
                except TimeoutError as error:
                    raise TimeoutError(f"{error}; the output so far:\n{text}") from error

    def join(self) -> None:
        """Wait for the end of the output."""
        self._thread.join(Deadline("the output's end").left())
        assert not self._thread.is_alive(), "somebody holds the pipe open"

    def _run(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), 65536):
                with self._news:
                    self._bytes += piece
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()
