"""What is measured: the works, and who does each of them."""

from __future__ import annotations

from dataclasses import dataclass

BRIDGES = ["wsbridge", "limit", "Nchan", "aiohttp"]
FLAT = ["wsbridge", "limit, each by itself", "Nchan", "aiohttp"]
#: The bridge, and how it is where libmicrohttpd does not let go of connections.
OURS = ["wsbridge", "wsbridge, suspended"]
#: The same group commit behind what the bridge serves HTTP with, and behind bare epoll.
DURABLE = ["wsbridge on disk", "limit on libmicrohttpd and disk", "limit on disk"]
POINTERS = ["wsbridge's pointers", "FoundationEssentials"]
#: Names of works, by the bytes of the messages in which values are looked for.
VALUES = {size: f"three values of {size:,} B of JSON" for size in (200, 4096, 65_536)}
CLIENTS = ["wsbridge", "wsbridge's client", "limit", "websockets's client", "aiohttp's client"]


#: Where server and load run.
PLACES = {"apart": "each on a core", "shared": "both on one core", "free": "not pinned"}


@dataclass(frozen=True)
class Contestant:
    """A server, and what is particular to it in a work."""

    name: str
    #: What is started, where the name does not say it.
    server: str = ""
    #: Options of the load tool.
    load: tuple[str, ...] = ()
    #: How many upstreams the server has.
    links: int = 1
    #: Where server and load run: a key of `PLACES`.
    cores: str = "apart"

    @property
    def started(self) -> str:
        return self.server or self.name


@dataclass(frozen=True)
class Work:
    """One kind of load."""

    name: str
    mode: str
    entrants: list[Contestant]
    streams: int = 0
    size: int = 100
    #: Options of the load tool.
    load: tuple[str, ...] = ()
    #: Which columns the report shows; by default those of the mode.
    columns: str = ""
    #: How many times as long as others it is measured.
    longer: float = 1


def named(names: list[str], **more: object) -> list[Contestant]:
    return [Contestant(name, **more) for name in names]


# Isolation

#: What subscribers do that may disturb others, by the word of the load tool.
BEHAVIOURS = {
    "never": "never reads",
    "byte": "reads a byte a second",
    "killed": "is killed 10 times a second",
}
CROWDS = (1, 20)
NOBODY = "nobody"
ISOLATION = "isolation, 100 beside"


def disturbers(count: int, behaviour: str) -> str:
    return f"{count}, {'which' if count == 1 else 'each of which'} {BEHAVIOURS[behaviour]}"


def isolation() -> Work:
    """Return the work of 100 subscribers with and without others that behave badly.

    Where there is nobody, what differs between with and without is chance.
    """
    entrants = [Contestant(NOBODY, "wsbridge")]
    entrants += [
        Contestant(disturbers(count, behaviour), "wsbridge", ("--disturb", f"{behaviour}:{count}"))
        for behaviour in BEHAVIOURS
        for count in CROWDS
    ]
    # More is filled than the kernel holds for one that does not read, and than the bridge keeps encoded.
    # A p99 needs many messages.
    more = {"size": 1000, "load": ("--fill", "5000000"), "longer": 4}
    return Work(ISOLATION, "beside", entrants, streams=100, **more)


# Filters

#: Of the messages of a work with filters; each filter that asks for a kind gets every tenth.
KINDS = 10


def shape(count: int, kind: int | str, query: str = "", path: str = "/events") -> tuple[str, str]:
    """Return the option for streams that show messages of one kind, of `all`, or of `none`."""
    return "--shape", f"{count}:{kind}:{path}{'?' if query else ''}{query}"


def distinct(index: int) -> str:
    """Return one of a hundred filters, no two alike, which all messages pass."""
    broad = ("messages", "*", ">", "messages")[index % 4]
    parts = [f"topic=alerts.{index}", f"topic={broad}"]
    parts += [[], ["match=/any:yes"], ["types=text"], ["direction=both", "match=/any:yes"]][index % 4]
    return "&".join(parts)


def filters(pace: str, mode: str) -> Work:
    """Return the work of 100 subscribers with one filter, or a hundred."""
    different = [option for index in range(100) for option in shape(1, "all", distinct(index))]
    choosing = [
        option
        for index in range(100)
        for option in shape(1, index % KINDS, f"match=/kind:{index % KINDS:04}&{distinct(index)}")
    ]
    entrants = [
        Contestant("100 subscribers, no filter", "wsbridge", shape(100, "all")),
        Contestant("100 subscribers, one filter", "wsbridge", shape(100, "all", "match=/any:yes")),
        Contestant("100 subscribers, 100 filters", "wsbridge", tuple(different)),
        Contestant("10 subscribers, no filter", "wsbridge", shape(10, "all")),
        Contestant("100 subscribers, 100 filters, 10 pass", "wsbridge", tuple(choosing)),
    ]
    kinds = ("--kinds", str(KINDS))
    return Work(f"filters, {pace}", mode, entrants, size=200, load=kinds, columns="messages")


#: Who is beside the ten that a message is for.
GROWTH = (
    "beside 9,990 of one other filter",
    "beside 9,990 of 222 other filters",
    "beside 9,990 of 99 other connections",
)


def growth(pace: str, mode: str) -> Work:
    """Return the work of 10 subscribers that messages are for, beside 9,990 that they are not for."""
    ten = shape(10, "all", "match=/any:yes")
    others = [option for index in range(222) for option in shape(45, "none", f"match=/any:{index}")]
    elsewhere = [
        option
        for index in range(1, 100)
        for option in shape(101 if index <= 90 else 100, "none", path=f"/v1/connections/c{index}/events")
    ]
    first = ten[1].replace(":/events", ":/v1/connections/c0/events")
    entrants = [
        Contestant("10 alone", "wsbridge", ten),
        Contestant(GROWTH[0], "wsbridge", (*ten, *shape(9990, "none", "match=/any:no"))),
        Contestant(GROWTH[1], "wsbridge", (*ten, *others)),
        Contestant(GROWTH[2], "wsbridge", ("--shape", first, *elsewhere), links=100),
    ]
    kinds = ("--kinds", "1")
    return Work(f"10 of 10,000, {pace}", mode, entrants, size=200, load=kinds, columns="messages", longer=2)


# Cores


def placed(pace: str, mode: str, streams: int, peer: str) -> Work:
    """Return work that is done on two cores, on one, and where the system likes."""
    entrants = [
        Contestant(f"{server}, {words}", server, cores=cores)
        for cores, words in PLACES.items()
        for server in ("wsbridge", peer)
    ]
    return Work(f"cores, {pace}, N = {streams:,}", mode, entrants, streams, longer=2)


#: So many long messages ahead are encoded no more than the bridge keeps for those that lag.
LONG = {"size": 1 << 20, "load": ("--window", "3"), "columns": "bytes", "longer": 2}

WORKS = [
    Work("one message at a time, N = 1", "one", named(BRIDGES), 1),
    *(Work(f"one message at a time, N = {n:,}", "one", named(BRIDGES), n, longer=2) for n in (100, 1000)),
    Work("one message at a time, N = 10,000", "one", named(BRIDGES[:3]), 10_000, longer=2),
    *(Work(f"flat out, N = {n:,}", "flat", named(FLAT), n) for n in (1, 100)),
    Work("flat out, N = 1,000", "flat", named([*FLAT, "Nchan, 2 workers"]), 1000),
    # Fewer ahead, or all of the time would go by before the first one has arrived everywhere.
    Work("flat out, N = 10,000", "flat", named(FLAT[:3]), 10_000, load=("--window", "16")),
    *(Work(f"1 MiB messages, N = {n}", "flat", named(BRIDGES), n, **LONG) for n in (1, 10)),
    isolation(),
    filters("one message at a time", "one"),
    filters("flat out", "flat"),
    growth("one message at a time", "one"),
    growth("flat out", "flat"),
    placed("one message at a time", "one", 100, "limit"),
    placed("flat out", "flat", 1000, "limit, each by itself"),
    Work("idle, N = 1,000", "idle", named([*OURS, *BRIDGES[1:]]), 1000),
    Work("idle, N = 10,000", "idle", named([*OURS, "limit"]), 10_000),
    Work("POST, 32 clients", "post", named([*BRIDGES[:2], "limit on libmicrohttpd", *BRIDGES[2:]])),
    # Few clients give few figures, as each answer waits for the disk.
    *(
        Work(
            f"durable POST, {count} client{'s' if count > 1 else ''}",
            "post",
            named(DURABLE),
            load=("--clients", str(count)),
            longer=4,
        )
        for count in (1, 8, 64)
    ),
    Work("receive, 100 B", "codec", named(CLIENTS)),
    Work("receive, 1 MiB", "codec", named(CLIENTS), size=1 << 20),
    *(Work(name, "values", named(POINTERS), size=size) for size, name in VALUES.items()),
    Work("idle, 1 upstream", "idle", named(["wsbridge"])),
    Work("idle, 101 upstreams", "idle", named(["wsbridge"], links=101)),
]
