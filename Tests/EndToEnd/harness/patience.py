"""Deadlines: how long a test waits for what must come. They bound a failure, they measure nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: Seconds after which something that must happen counts as missing; more than the bridge's own longest
#: limit on the way, the 30 s within which a request must arrive.
PATIENCE = float(os.environ.get("WSBRIDGE_TEST_PATIENCE", "45"))

#: Seconds between two questions, where the product announces nothing that could be awaited instead.
_PAUSE = 0.01


class Deadline:
    """A point in time by which `what` must have happened."""

    def __init__(self, what: str, seconds: float | None = None):
        self.what = what
        self.seconds = PATIENCE if seconds is None else seconds
        self._end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return the seconds left, always more than 0, or raise `TimeoutError`."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"not within {self.seconds:g} s: {self.what}")
        return left


def await_truth(question: Callable[[], T], what: str) -> T:
    """Ask until the answer is truthy, and return it.

    For facts that only an answer to a request shows, such as a count in the status.
    """
    deadline = Deadline(what)
    while not (answer := question()):
        time.sleep(min(_PAUSE, deadline.left()))
    return answer
