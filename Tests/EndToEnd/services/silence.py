"""A server that says nothing any more, and whose client is to notice."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from .service import Service, Session


class FallsSilent(Service):
    """A stand-in that asks in `_tell` whether it `is_silent`, and wants its client to leave then."""

    #: By what, within so many seconds, its client has to have left.
    silence_clause: ClassVar[str]
    _silence_within: float

    def fall_silent(self, number: int = 0) -> None:
        """Say nothing more on a connection, which stays open."""
        session = self.session(number)

        async def fall_silent() -> None:
            session.notes["silent"] = True
            session.alongside(self._expect_departure(session))

        self.run(fall_silent())

    def is_silent(self, session: Session) -> bool:
        return "silent" in session.notes

    async def _expect_departure(self, session: Session) -> None:
        await asyncio.sleep(self._silence_within)
        session.breach(self.silence_clause, "the client waits for a server that says nothing any more")
        session.drop()
