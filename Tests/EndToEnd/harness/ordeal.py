"""Kills a bridge again and again while clients send, and checks what it promised, exactly."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import signal
import sqlite3
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .bridge import Bridge
from .http1 import Client
from .patience import Deadline, await_truth
from .upstream import Upstream


@dataclass
class Post:
    """A request to send messages, and what its client knows of it."""

    texts: list[str]
    query: str = ""
    key: str | None = None
    #: Its place in the order of all that clients did and were told.
    begun: int = 0
    #: The same of its answer; nil while, or as, there was none.
    answered: int | None = None
    ids: list[str] = field(default_factory=list)
    #: It was told that the bridge is stopping, and not sent again.
    is_refused: bool = False
    #: That it was sent was on disk before its bridge was killed.
    is_settled: bool = False

    @property
    def body(self) -> bytes:
        return "\n".join(self.texts).encode()

    @property
    def fields(self) -> dict[str, str]:
        kind = "application/x-ndjson" if len(self.texts) > 1 else "text/plain"
        return {"Content-Type": kind, **({"Idempotency-Key": self.key} if self.key else {})}


class Sender(threading.Thread):
    """A client that sends one request after the other, to whichever bridge is there.

    What it gave a key it sends again until it knows the answer; of what else was cut off it knows nothing.
    """

    def __init__(self, ordeal: Ordeal, name: str, seed: int):
        super().__init__(name=name, daemon=True)
        self._ordeal = ordeal
        self._random = random.Random(seed)
        self._numbers = itertools.count()
        self.posts: list[Post] = []
        self.failure: BaseException | None = None

    def run(self) -> None:
        unanswered: Post | None = None
        try:
            while address := self._ordeal.address():
                # The bridge was killed, or is about to be there.
                with contextlib.suppress(OSError, _CutOff), Client(address) as client:
                    while not self._ordeal.is_over:
                        post = unanswered or self._next()
                        unanswered = post if post.key else None
                        self._send(post, client)
                        unanswered = None
        except BaseException as error:
            self.failure = error
            raise

    def _next(self) -> Post:
        kind = self._random.choice(["plain", "plain", "lines", "key", "wait"])
        count = 3 if kind == "lines" else 1
        post = Post([f"{self.name}-{next(self._numbers)}" for _ in range(count)], begun=self._ordeal.tick())
        if kind == "key":
            post.key = f"key-{post.texts[0]}"
        if kind == "wait":
            post.query = "?wait=20s"
        self.posts.append(post)
        return post

    def _send(self, post: Post, client: Client) -> None:
        with _cut_off():
            response = client.request("POST", "/messages" + post.query, post.body, post.fields)
        if response.status == 503 and b"stopping" in response.body:
            post.is_refused = not post.key
            raise _CutOff
        assert response.status in (200, 202), response
        answer = response.json()
        messages = answer.get("messages", [answer])
        ids = [message["id"] for message in messages]
        assert post.ids in ([], ids), "a repeat has another answer"
        post.ids = ids
        post.answered = self._ordeal.tick()
        self._ordeal.note_answer()
        if response.status == 200:
            # What it answers for is on disk.
            with _cut_off():
                response = client.request("DELETE", f"/outbox/{post.ids[0]}")
            assert (response.status, response.json()) == (200, {"dropped": 0}), response
            post.is_settled = True


class _CutOff(Exception):
    """The connection ended before the answer was there."""


@contextlib.contextmanager
def _cut_off() -> Iterator[None]:
    try:
        yield
    except (AssertionError, OSError) as error:
        raise _CutOff from error


@dataclass
class Account:
    """What an ordeal has come to."""

    kills: int
    accepted: int
    unknown: int
    received: int
    duplicates: int
    #: Most that one kill has had sent again.
    most_duplicates: int
    #: Seconds from the start to listening, of the median and of the worst bridge.
    start: tuple[float, float]


class Ordeal:
    """One store, one upstream that is always there, many bridges."""

    def __init__(
        self, folder: Path, *, confirm: str = "written", senders: int = 6, seed: int = 1, **options: Path
    ):
        self.folder = folder
        self.upstream = Upstream(answers=_echo if confirm == "pong" else lambda _: None)
        self.is_over = False
        self._options = options
        self._random = random.Random(seed)
        self._ticks = itertools.count(1)
        self._news = threading.Condition()
        self._bridge: Bridge | None = None
        self._answers = 0
        self._starts: list[float] = []
        self.senders = [Sender(self, f"s{number}", seed + number) for number in range(senders)]
        connection = {
            "url": self.upstream.url,
            "outbox": {"confirm": confirm, "maxMessages": 100_000},
            "reconnect": {"initialDelay": "10ms", "jitter": 0, "factor": 1},
        }
        self._file = folder / "wsbridge.json"
        self._file.write_text(
            json.dumps({"connections": {"default": connection}, "storage": {"directory": "data"}})
        )

    def run(self, kills: int, tell: Callable[[int], None] = lambda _: None) -> Account:
        """Go through with it, check all that was promised, and return the figures."""
        try:
            for sender in self.senders:
                sender.start()
            for number in range(kills):
                self._live_and_die()
                tell(number + 1)
            return self._reckon(kills)
        finally:
            self._give_up()
            self.upstream.stop()

    # What senders ask for

    def tick(self) -> int:
        return next(self._ticks)

    def note_answer(self) -> None:
        with self._news:
            self._answers += 1
            self._news.notify_all()

    def address(self) -> tuple[str, int] | None:
        """Wait for a bridge; none when there will be no more."""
        with self._news:
            while self._bridge is None and not self.is_over:
                self._news.wait()
            return None if self.is_over else self._bridge.address

    # Bridges

    def _start(self, *, awaits: bool = True) -> Bridge:
        begun = time.monotonic()
        flags = ["--config", str(self._file), "--listen", "127.0.0.1:0", "--log-format", "json"]
        bridge = Bridge("serve", *flags, **self._options)
        if awaits:
            bridge.listening()
            self._starts.append(time.monotonic() - begun)
        return bridge

    def _show(self, bridge: Bridge | None) -> None:
        with self._news:
            self._bridge = bridge
            self._news.notify_all()

    def _live_and_die(self) -> None:
        """Start a bridge and kill it at a random point: as it starts, works, or stops."""
        point = self._random.random()
        bridge = self._start(awaits=point > 0.15)
        try:
            if bridge.address[1]:
                self._show(bridge)
                self._await_answers(self._random.randrange(120))
            if point > 0.9:
                bridge.signal(signal.SIGTERM)
            # Not to wait for anything: any moment is as good as another.
            time.sleep(self._random.random() * 0.02)
        finally:
            self._show(None)
            bridge.process.kill()
            bridge.process.wait()
            bridge.finish()
        assert bridge.process.returncode in (0, -signal.SIGKILL), bridge.err.text

    def _await_answers(self, count: int) -> None:
        deadline = Deadline(f"{count} answers")
        with self._news:
            wanted = self._answers + count
            while self._answers < wanted:
                self._check_senders()
                self._news.wait(min(1, deadline.left()))

    def _check_senders(self) -> None:
        for sender in self.senders:
            assert sender.failure is None, f"{sender.name}: {sender.failure}"

    def _give_up(self) -> None:
        with self._news:
            self.is_over = True
            self._news.notify_all()
        for sender in self.senders:
            if sender.ident:
                sender.join()

    # What must be so

    def _reckon(self, kills: int) -> Account:
        last = self._start()
        try:
            # Those with a key get their answers.
            self._show(last)
            self._await_answers(50)
            self._give_up()
            self._check_senders()
            last.await_status(lambda status: status["outbox"]["messages"] == 0, "all is sent")
            posts = [post for sender in self.senders for post in sender.posts]
            accepted = [post for post in posts if post.answered is not None]
            self._check_states(last, accepted)
        finally:
            last.finish()
        self._check_file()
        texts = {text for post in accepted for text in post.texts}
        self._await_texts(texts)
        lives = [[str(text) for text in peer.messages] for peer in self.upstream.peers]
        firsts, repeats = _split(lives)
        _check_received(firsts, posts, accepted)
        _check_order(firsts, posts)
        _check_repeats(repeats, posts)
        return Account(
            kills=kills,
            accepted=len(texts),
            unknown=sum(len(post.texts) for post in posts) - len(texts),
            received=len(firsts),
            duplicates=sum(map(len, repeats)),
            most_duplicates=max(map(len, repeats), default=0),
            start=(statistics.median(self._starts), max(self._starts)),
        )

    def _await_texts(self, texts: set[str]) -> None:
        def missing() -> set[str]:
            return texts - {str(text) for peer in self.upstream.peers for text in peer.messages}

        await_truth(lambda: not missing(), "everything accepted arrives")

    def _check_states(self, bridge: Bridge, accepted: list[Post]) -> None:
        newest = sorted(accepted, key=lambda post: post.answered or 0)[-1000:]
        with bridge.client() as client:
            for post in newest:
                for identifier in post.ids:
                    answer = client.request("GET", f"/outbox/{identifier}")
                    assert answer.json()["state"] == "sent", answer

    def _check_file(self) -> None:
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "wsbridge.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("SELECT count(*) FROM outbox").fetchall() == [(0,)]


def _echo(message: str | bytes) -> str | bytes:
    return message


def _split(lives: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return what came first, in order, and what each life repeated of it.

    What is repeated is what the upstream has got last, in the same order, before anything new: nothing else
    was in flight.
    """
    firsts: list[str] = []
    known: set[str] = set()
    repeats: list[list[str]] = []
    for life in lives:
        repeated = list(itertools.takewhile(known.__contains__, life))
        assert repeated == firsts[len(firsts) - len(repeated) :], "what was not in flight was sent again"
        fresh = life[len(repeated) :]
        assert len(set(fresh)) == len(fresh), "something was sent twice on one connection"
        assert not known.intersection(fresh), "something old was sent after something new"
        repeats.append(repeated)
        firsts += fresh
        known.update(fresh)
    return firsts, repeats


def _check_received(firsts: list[str], posts: list[Post], accepted: list[Post]) -> None:
    missing = {text for post in accepted for text in post.texts}.difference(firsts)
    assert not missing, f"accepted and never sent: {sorted(missing)[:10]}"
    invented = set(firsts).difference(text for post in posts for text in post.texts)
    assert not invented, f"sent by nobody: {sorted(invented)[:10]}"
    refused = {text for post in posts if post.is_refused for text in post.texts}
    assert not refused.intersection(firsts), "refused and sent"
    # All or none of a request, answered or not.
    for post in posts:
        assert len(set(post.texts).intersection(firsts)) in (0, len(post.texts)), post


def _check_order(firsts: list[str], posts: list[Post]) -> None:
    """What was answered before another request began came first, and lines kept their order."""
    places = {text: place for place, text in enumerate(firsts)}
    for post in posts:
        found = [places[text] for text in post.texts if text in places]
        assert found == sorted(found), post
    latest_begin = 0
    by_text = {text: post for post in posts for text in post.texts}
    for text in firsts:
        post = by_text[text]
        assert post.answered is None or post.answered > latest_begin, f"{text} came too late"
        latest_begin = max(latest_begin, post.begun)


def _check_repeats(repeats: list[list[str]], posts: list[Post]) -> None:
    settled = {text for post in posts if post.is_settled for text in post.texts}
    for repeated in repeats:
        assert not settled.intersection(repeated), "something was sent again that was known to be sent"
