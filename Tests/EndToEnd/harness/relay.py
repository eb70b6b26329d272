"""A relay between clients and a bridge, which can drop everybody."""

from __future__ import annotations

import contextlib
import socket
import threading

from .patience import PATIENCE


class Relay:
    """Passes bytes between clients and a server, until it is told to drop everybody."""

    def __init__(self, target: tuple[str, int]):
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        #: Whether who comes is turned away.
        self.is_closed = False
        self._sockets: list[socket.socket] = []
        self._answered = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                if self.is_closed:
                    client.close()
                    continue
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            self._sockets += [client, server]
            back = threading.Thread(target=self._pass, args=(server, client, self._answered), daemon=True)
            back.start()
            self._pass(client, server, threading.Event())
            back.join()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket, passed: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                sink.sendall(piece)
                passed.set()
        for side in (source, sink):
            _end(side)

    def await_answer(self) -> None:
        """Return when some client has been sent the beginning of an answer."""
        assert self._answered.wait(PATIENCE), "the server has not answered"

    def drop(self) -> None:
        for side in self._sockets:
            _end(side)
        self._sockets.clear()

    def close(self) -> None:
        _end(self._server)
        self._server.close()
        self.drop()
        for thread in self._threads:
            thread.join(PATIENCE)


def _end(side: socket.socket) -> None:
    with contextlib.suppress(OSError):
        side.shutdown(socket.SHUT_RDWR)
