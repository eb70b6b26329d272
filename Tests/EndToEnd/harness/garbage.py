"""Requests that nobody decent sends, drawn from a seed: each a list of bytes for one connection."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

#: Posted by a request that stands where no request can: whoever takes it for one was led astray.
SMUGGLED = b"smuggled"
_INNER = b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (
    len(SMUGGLED),
    SMUGGLED,
)


@dataclass(frozen=True)
class Case:
    """What is sent on one connection."""

    kind: str
    data: bytes
    #: It holds a request that the bridge must not see as one.
    smuggles: bool = False


class Garbage:
    """An endless supply; the same seed gives the same."""

    def __init__(self, seed: int):
        self._dice = random.Random(seed)
        self._kinds: list[Callable[[], Case]] = [
            self._request_line,
            self._field,
            self._many_fields,
            self._length,
            self._chunks,
            self._smuggling,
            self._pipeline,
            self._truncated,
            self._changed,
            self._noise,
        ]

    def take(self, count: int) -> list[Case]:
        return [self._dice.choice(self._kinds)() for _ in range(count)]

    # What is decent

    def _good(self) -> bytes:
        return self._dice.choice(
            [
                b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n",
                b"GET /messages?limit=2&types=text HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
                b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\ngood",
                b"POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"4\r\ngood\r\n0\r\n\r\n",
                b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                b"OPTIONS /messages HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n",
                b"GET /events?limit=1&since=start HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: x\r\n\r\n",
                b"DELETE /outbox/none HTTP/1.0\r\n\r\n",
            ]
        )

    def _end(self) -> bytes:
        return self._dice.choice(
            [b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"\r\r\n", b"\n\r", b"\0\r\n", b""]
        )

    def _odd(self) -> bytes:
        """A piece of text that belongs nowhere."""
        return self._dice.choice(
            [
                *(
                    b"",
                    b" ",
                    b"\t",
                    b"\0",
                    b"\x01",
                    b"\x7f",
                    b"\xff",
                    b"\x0b",
                    b"\x0c",
                    b":",
                    b"%",
                    b"%00",
                    b"%zz",
                ),
                *(
                    b"\xc3\x28",
                    b"\xed\xa0\x80",
                    b"..",
                    b"/../",
                    b"//",
                    b"?",
                    b"#",
                    b"*",
                    b"\\",
                    b'"',
                    b"<",
                    b"{{",
                ),
                b"A" * self._dice.choice([1, 100, 1000, 8000, 20_000, 40_000]),
                str(self._number()).encode(),
                self._dice.randbytes(self._dice.randint(1, 20)),
            ]
        )

    def _number(self) -> int:
        near = self._dice.choice([0, 1, 16, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, 1 << 64, 10**30])
        return self._dice.choice([1, -1]) * (near + self._dice.randint(-2, 2))

    # What is not

    def _request_line(self) -> Case:
        dice = self._dice
        method = dice.choice(
            [b"GET", b"get", b"POST", b"G\0T", b"PRI", b"CONNECT", b"TRACE", b"", self._odd()]
        )
        target = dice.choice(
            [
                *(
                    b"/status",
                    b"*",
                    b"localhost:80",
                    b"http://localhost/status",
                    b"http://evil.example/status",
                ),
                *(
                    b"/status%2",
                    b"/st atus",
                    b"/status?x",
                    b"/events?limit=%31&%",
                    b"/%2e%2e/",
                    b"status",
                    b"/",
                ),
                b"/" + self._odd(),
                b"/messages?" + self._odd() + b"=" + self._odd(),
                b"/events?since=" + self._odd(),
                b"/v1/connections/" + self._odd() + b"/status",
                b"/" + b"a/" * dice.choice([10, 1000, 20_000]),
            ]
        )
        version = dice.choice(
            [
                *(b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"http/1.1", b"HTTP/1.10"),
                *(b"HTTP/11", b"HTTP/ 1.1", b"HTTQ/1.1", b"", b"HTTP/1.1 x", b"HTTP/-1.1", self._odd()),
            ]
        )
        gaps = [dice.choice([b" ", b" ", b"  ", b"\t", b"\x0b", b""]) for _ in range(2)]
        before = dice.choice([b"", b"", b"\r\n", b"\n", b" ", b"\0", b"\xef\xbb\xbf"])
        line = before + method + gaps[0] + target + gaps[1] + version + self._end()
        return Case("request line", line + b"Host: localhost" + self._end() + self._end())

    def _field(self) -> Case:
        name = self._dice.choice(
            [
                b"Host",
                b"Origin",
                b"Accept",
                b"Expect",
                b"Connection",
                b"Upgrade",
                b"Range",
                b"X",
                b"",
                self._odd(),
            ]
        )
        middle = self._dice.choice([b": ", b":", b" : ", b"", b"::", b":\t", b":\r\n ", b"\0:", b": \0"])
        value = self._dice.choice(
            [
                *(
                    b"localhost",
                    b"100-continue",
                    b"close, keep-alive",
                    b"h2c",
                    b"null",
                    b"bytes=0-",
                    b"evil.example",
                ),
                *(
                    b"[::1]",
                    b"[",
                    b"localhost:99999",
                    b"a@localhost",
                    b"localhost:80:80",
                    self._odd(),
                    self._odd(),
                ),
            ]
        )
        fields = [b"Host: localhost", name + middle + value]
        self._dice.shuffle(fields)
        head = self._good().partition(b"\r\n")[0]
        return Case("field", self._end().join([head, *fields]) + self._end() + self._end())

    def _many_fields(self) -> Case:
        count = self._dice.choice([10, 150, 250, 3000])
        size = self._dice.choice([0, 1, 60, 500])
        fields = b"".join(b"F%d: %b\r\n" % (number, b"x" * size) for number in range(count))
        return Case("many fields", b"GET /status HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\n")

    def _length(self) -> Case:
        value = self._dice.choice(
            [
                *(
                    b"4",
                    b"+4",
                    b"-4",
                    b" 4",
                    b"4 ",
                    b"4,4",
                    b"4, 5",
                    b"0x4",
                    b"4.0",
                    b"4e0",
                    b"",
                    b"four",
                    b"04",
                ),
                *(b"4\t", b"4\x0b", b"4;", b"\xd9\xa4", str(self._number()).encode(), self._odd()),
            ]
        )
        again = b"Content-Length: " + self._dice.choice([b"4", b"5", b"0", value]) + b"\r\n"
        fields = b"Content-Length: " + value + b"\r\n" + self._dice.choice([b"", b"", again])
        return Case("length", b"POST /messages HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\nbody")

    def _chunks(self) -> Case:
        body = b""
        for _ in range(self._dice.randint(1, 4)):
            data = b"x" * self._dice.choice([0, 1, 4, 17, 300, 5000])
            size = self._dice.choice(
                [
                    *[b"%x" % len(data)] * 4,
                    *(b"%X" % len(data), b"0%x" % len(data), b"0x%x" % len(data), b"-%x" % len(data), b"+1"),
                    *(
                        b"",
                        b" %x" % len(data),
                        b"%x " % len(data),
                        b"%x;ext" % len(data),
                        b'%x;a="b"' % len(data),
                    ),
                    *(
                        b"g",
                        b"FFFFFFFF",
                        b"FFFFFFFFFFFFFFFF",
                        b"1" + b"0" * 40,
                        b"%x;" % len(data) + self._odd(),
                    ),
                    b"%x" % max(0, len(data) + self._dice.randint(-2, 2)),
                ]
            )
            body += size + self._end() + data + self._end()
        trailer = self._dice.choice(
            [b"", b"", b"X: y\r\n", b"Content-Length: 3\r\n", b"Host: evil\r\n", self._odd()]
        )
        body += self._dice.choice([b"0\r\n", b"00\r\n", b"0;x\r\n", b"0\n", b""]) + trailer + self._end()
        head = b"POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        return Case("chunks", head + body)

    def _smuggling(self) -> Case:
        """A request whose end readers may see in two places; behind one of them stands another request."""
        encodings = [
            *(
                b"Transfer-Encoding: chunked",
                b"Transfer-Encoding: chunked, identity",
                b"Transfer-Encoding:chunked",
            ),
            *(
                b"Transfer-Encoding: identity, chunked",
                b"Transfer-Encoding: xchunked",
                b"transfer-encoding: CHUNKED",
            ),
            *(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding:\tchunked"),
            *(
                b"Transfer-Encoding : chunked",
                b"Transfer-Encoding\t: chunked",
                b"Transfer-Encoding: \x0bchunked",
            ),
            *(
                b"Transfer-Encoding:\r\n chunked",
                b"X: y\r\n Transfer-Encoding: chunked",
                b"Transfer-Encoding: chunke",
            ),
            *(
                b"Transfer-Encoding: chunked\0",
                b"Transfer-Encoding: chunked;q=1",
                b"Transfer-Encoding: ,chunked",
            ),
            *(
                b'Transfer-Encoding: "chunked"',
                b"Transfer-Encoding: gzip, chunked",
                b"Transfer-Encoding: cow",
            ),
        ]
        chunked = b"0\r\n\r\n" + _INNER
        # The whole is the body for who counts, and two requests for who reads chunks.
        both = [b"Content-Length: %d" % len(chunked), self._dice.choice(encodings)]
        # The other way round: the body ends before it for who counts.
        short = [b"Content-Length: 5", self._dice.choice(encodings)]
        lengths = [b"Content-Length: %d" % len(chunked), b"Content-Length: 5"]
        fields = self._dice.choice([both, both, short, lengths, lengths])
        self._dice.shuffle(fields)
        version = self._dice.choice([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0"])
        head = b"\r\n".join([b"POST /messages " + version, b"Host: localhost", *fields, b"", b""])
        return Case("smuggling", head + chunked, smuggles=True)

    def _pipeline(self) -> Case:
        count = self._dice.randint(1, 6)
        return Case("pipeline", b"".join(self._good() for _ in range(count)) + self._changed().data)

    def _truncated(self) -> Case:
        good = self._good()
        return Case("truncated", good[: self._dice.randrange(len(good))])

    def _changed(self) -> Case:
        data = bytearray(self._good())
        for _ in range(self._dice.randint(1, 5)):
            at = self._dice.randrange(len(data) + 1)
            data[at : at + self._dice.randint(0, 3)] = self._odd()[:300]
        return Case("changed", bytes(data))

    def _noise(self) -> Case:
        return Case("noise", self._dice.randbytes(self._dice.choice([1, 10, 100, 3000, 50_000])))
