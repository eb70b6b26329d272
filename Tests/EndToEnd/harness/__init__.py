"""What the end-to-end tests stand on: a real bridge, real upstreams and clients of our own.

Nothing here shares code with the product: the clients read HTTP, chunks and event streams by the standards'
words, so that a mistake of the product is not repeated by its test.
"""

from .bridge import Bridge
from .certificates import Authority
from .counting_upstream import CountingUpstream
from .curl import Curl, curl, shell
from .distant_upstream import DistantUpstream
from .event_source import Event, EventSourceParser
from .http1 import Client, Response
from .network import Cable, IsolatedNetwork, JoinedNetwork, ip
from .openssl_server import OpenSSLServer
from .patience import PATIENCE, Deadline, await_truth
from .posters import Posters
from .raw_upstream import RawPeer, RawUpstream
from .readers import Readers
from .relay import Relay
from .secure import LocalTLS
from .stream import Stream
from .taker import Taker
from .upstream import Peer, Upstream
from .web_server import WebAnswer, WebRequest, WebServer
from .wire import SecureAddress

__all__ = [
    "PATIENCE",
    "Authority",
    "Bridge",
    "Cable",
    "Client",
    "CountingUpstream",
    "Curl",
    "Deadline",
    "DistantUpstream",
    "Event",
    "EventSourceParser",
    "IsolatedNetwork",
    "JoinedNetwork",
    "LocalTLS",
    "OpenSSLServer",
    "Peer",
    "Posters",
    "RawPeer",
    "RawUpstream",
    "Readers",
    "Relay",
    "Response",
    "SecureAddress",
    "Stream",
    "Taker",
    "Upstream",
    "WebAnswer",
    "WebRequest",
    "WebServer",
    "await_truth",
    "curl",
    "ip",
    "shell",
]
