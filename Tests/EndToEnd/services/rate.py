"""Limits on how often a client may send, judged with slack."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

#: Spans of this many periods are looked at: what the slack hides in one shows in several.
_PERIODS = 10


@dataclass(frozen=True)
class Rate:
    """At most so many in any span of `per` seconds.

    A busy machine may see two messages nearer to one another, by up to `slack` seconds, than they were sent.
    """

    messages: int
    per: float = 1
    slack: float = 0.5

    def is_exceeded(self, times: Sequence[float]) -> bool:
        """Whether the last of these was one too many."""
        for periods in range(1, _PERIODS + 1):
            index = len(times) - 1 - self.messages * periods
            if index < 0:
                return False
            if times[-1] - times[index] < self.per * periods - self.slack:
                return True
        return False


class Dials:
    """When a service was dialled, and how often it may be."""

    def __init__(self, rate: Rate):
        self._rate = rate
        self._times: list[float] = []

    def one_too_many(self) -> str | None:
        """Take one more in; say what is wrong if that is beyond the rate."""
        self._times.append(time.monotonic())
        if self._rate.is_exceeded(self._times):
            return f"more than {self._rate.messages} connections in {self._rate.per} s"
        return None
