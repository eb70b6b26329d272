"""TLS by OpenSSL itself, for what Python's `ssl` cannot do: change keys amid messages."""

from __future__ import annotations

import ctypes
import socket
import struct
from pathlib import Path

_SSL = ctypes.CDLL("libssl.so.3")
_CRYPTO = ctypes.CDLL("libcrypto.so.3")
for _name in ("TLS_server_method", "TLS_client_method", "SSL_CTX_new", "SSL_new"):
    getattr(_SSL, _name).restype = ctypes.c_void_p

_FILETYPE_PEM = 1
_ERROR_WANT_READ = 2
_ERROR_WANT_WRITE = 3
_ERROR_ZERO_RETURN = 6
_CTRL_SET_MIN_PROTO_VERSION = 123
_TLS1_3 = 0x0304
_HANDSHAKE_RECORD = 22
_KEY_UPDATE_MESSAGE = 24
_Watcher = ctypes.CFUNCTYPE(
    None,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_ubyte),
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class RekeyingContext:
    """A server's settings of TLS 1.3, in the place of an `ssl.SSLContext`."""

    def __init__(self, certificate: Path, key: Path):
        self._context = ctypes.c_void_p(_SSL.SSL_CTX_new(ctypes.c_void_p(_SSL.TLS_server_method())))
        for done in (
            _SSL.SSL_CTX_use_certificate_chain_file(self._context, bytes(certificate)),
            _SSL.SSL_CTX_use_PrivateKey_file(self._context, bytes(key), _FILETYPE_PEM),
            _SSL.SSL_CTX_ctrl(
                self._context, _CTRL_SET_MIN_PROTO_VERSION, ctypes.c_long(_TLS1_3), ctypes.c_void_p()
            ),
        ):
            assert done == 1, _reason()
        self.sockets: list[RekeyingSocket] = []

    def wrap_socket(self, plain: socket.socket, *, server_side: bool) -> RekeyingSocket:
        assert server_side
        self.sockets.append(RekeyingSocket(self._context, plain))
        return self.sockets[-1]


def rekeying_client(plain: socket.socket) -> RekeyingSocket:
    """Speak TLS 1.3 as a client that believes everybody."""
    context = ctypes.c_void_p(_SSL.SSL_CTX_new(ctypes.c_void_p(_SSL.TLS_client_method())))
    secure = RekeyingSocket(context, plain, server_side=False)
    # The session holds on to it.
    _SSL.SSL_CTX_free(context)
    return secure


class RekeyingSocket:
    """As much of a socket as a `RawPeer` uses."""

    def __init__(self, context: ctypes.c_void_p, plain: socket.socket, *, server_side: bool = True):
        self._plain = plain
        self._ssl = ctypes.c_void_p(_SSL.SSL_new(context))
        #: New keys of the other side so far.
        self.foreign_keys = 0
        # Kept, because OpenSSL does not.
        self._watcher = _Watcher(self._watch)
        _SSL.SSL_set_msg_callback(self._ssl, self._watcher)
        if plain.family != socket.AF_UNIX:
            # A new key and a frame are two writes.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        timeout = plain.gettimeout()
        plain.setblocking(True)
        self.settimeout(timeout)
        _SSL.SSL_set_fd(self._ssl, plain.fileno())
        shake_hands = _SSL.SSL_accept if server_side else _SSL.SSL_connect
        self._check(shake_hands(self._ssl), "the TLS handshake")

    def _watch(
        self,
        is_written: int,
        version: int,
        record: int,
        message: ctypes._Pointer[ctypes.c_ubyte],
        length: int,
        *_: int,
    ) -> None:
        if not is_written and record == _HANDSHAKE_RECORD and message[0] == _KEY_UPDATE_MESSAGE:
            self.foreign_keys += 1

    def change_key(self, *, both: bool) -> None:
        """Encrypt with a new key from now on; `both` asks the other side for a new one as well."""
        self._check(_SSL.SSL_key_update(self._ssl, int(both)), "a new key")
        self._check(_SSL.SSL_do_handshake(self._ssl), "a new key")

    # A socket

    def settimeout(self, seconds: float | None) -> None:
        microseconds = int((seconds or 0) * 1e6)
        value = struct.pack("ll", microseconds // 1_000_000, microseconds % 1_000_000)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._plain.setsockopt(socket.SOL_SOCKET, option, value)

    def recv(self, limit: int) -> bytes:
        buffer = ctypes.create_string_buffer(limit)
        count = _SSL.SSL_read(self._ssl, buffer, limit)
        if count <= 0 and _SSL.SSL_get_error(self._ssl, count) == _ERROR_ZERO_RETURN:
            return b""
        return buffer.raw[: self._check(count, "the bridge's bytes")]

    def sendall(self, data: bytes) -> None:
        # OpenSSL writes all or nothing.
        self._check(_SSL.SSL_write(self._ssl, data, len(data)), "the upstream sends")

    def close(self) -> None:
        if self._ssl:
            _SSL.SSL_free(self._ssl)
            self._ssl = ctypes.c_void_p()
        self._plain.close()

    def _check(self, status: int, what: str) -> int:
        if status <= 0:
            error = _SSL.SSL_get_error(self._ssl, status)
            is_late = error in (_ERROR_WANT_READ, _ERROR_WANT_WRITE)
            raise TimeoutError(what) if is_late else ConnectionError(f"{what}: {_reason()}")
        return status


def _reason() -> str:
    text = ctypes.create_string_buffer(256)
    _CRYPTO.ERR_error_string_n(ctypes.c_ulong(_CRYPTO.ERR_get_error()), text, len(text))
    return text.value.decode()
