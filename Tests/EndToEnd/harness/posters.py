"""Clients that post as fast as they can, and know what they were told."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

from .http1 import Client, Response
from .patience import PATIENCE


class Poster(threading.Thread):
    """One client that keeps its connection: one request after the other, until it or the bridge is stopped.

    Its messages are `NAME-0`, `NAME-1`, …; of three requests one waits until its message is sent, and one has
    two lines.
    """

    def __init__(self, address: tuple[str, int], path: str, name: str, fields: dict[str, str] | None = None):
        super().__init__(name=name, daemon=True)
        self._address = address
        self._path = path
        self._fields = fields or {}
        self._is_over = threading.Event()
        #: What the bridge has answered for, in order.
        self.accepted: list[str] = []
        #: What it has refused because it is stopping; of what had waited there all that is known is that it
        #: was not sent.
        self.refused: list[str] = []
        #: What nobody has answered for.
        self.unknown: list[str] = []
        self.unexpected: list[Response] = []
        self.has_begun = threading.Event()

    def run(self) -> None:
        numbers = itertools.count()
        try:
            with Client(self._address) as client:
                while not self._is_over.is_set():
                    number = next(numbers)
                    texts = [f"{self.name}-{number}"]
                    query, kind = "", "text/plain"
                    if number % 3 == 1:
                        query = "?wait=30s"
                    if number % 3 == 2:
                        texts.append(f"{self.name}-{next(numbers)}")
                        kind = "application/x-ndjson"
                    self.unknown = texts
                    body = "\n".join(texts).encode()
                    fields = {"Content-Type": kind, **self._fields}
                    answer = client.request("POST", self._path + query, body, fields)
                    self.unknown = []
                    if not self._note(answer, texts):
                        return
                    self.has_begun.set()
        except (AssertionError, OSError):
            # The connection has ended before there was an answer.
            pass
        finally:
            self.has_begun.set()

    def _note(self, answer: Response, texts: list[str]) -> bool:
        """Take note of the answer; return whether more are to be expected."""
        if answer.status in (200, 202):
            self.accepted += texts
            return True
        self.refused += texts
        if answer.status != 503 or b"the bridge is stopping" not in answer.body:
            self.unexpected.append(answer)
        return False

    def finish(self) -> None:
        """Have it stop after its next answer, and wait for that."""
        self._is_over.set()
        self.join(PATIENCE)
        assert not self.is_alive(), f"{self.name} was not answered"


class Posters:
    """A crowd of them."""

    def __init__(
        self,
        address: tuple[str, int],
        count: int,
        path: str = "/messages",
        fields: dict[str, str] | None = None,
        prefix: str = "p",
    ):
        self._all = [Poster(address, path, f"{prefix}{number}", fields) for number in range(count)]

    def start(self) -> Posters:
        """Start them, and wait until each has been answered."""
        for poster in self._all:
            poster.start()
        for poster in self._all:
            assert poster.has_begun.wait(PATIENCE), f"{poster.name} was not answered"
        return self

    def finish(self) -> None:
        for poster in self._all:
            poster.finish()

    def ended(self) -> None:
        """Wait until the bridge has ended them all."""
        for poster in self._all:
            poster.join(PATIENCE)
            assert not poster.is_alive(), f"{poster.name} was not answered"

    def _gather(self, of: Callable[[Poster], list[str]]) -> set[str]:
        return {text for poster in self._all for text in of(poster)}

    @property
    def accepted(self) -> set[str]:
        return self._gather(lambda poster: poster.accepted)

    @property
    def refused(self) -> set[str]:
        return self._gather(lambda poster: poster.refused)

    @property
    def unknown(self) -> set[str]:
        return self._gather(lambda poster: poster.unknown)

    @property
    def unexpected(self) -> list[Response]:
        return [answer for poster in self._all for answer in poster.unexpected]

    @property
    def in_order(self) -> list[list[str]]:
        """What each was answered for, in the order in which it has sent it."""
        return [poster.accepted for poster in self._all]
