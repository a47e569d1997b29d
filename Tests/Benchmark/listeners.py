"""Many WebSockets in one thread: a client that opens them and only listens."""

import base64
import contextlib
import os
import resource
import selectors
import socket
import struct
import time

# Seconds; the machine may be busy.
PATIENCE = 30


class Listener:
    """One socket, and the frame received so far."""

    def __init__(self, port: int, target: str):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall((
            f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self.read()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise RuntimeError(f"{target}: {head.decode()}")

    def read(self) -> None:
        part = self.connection.recv(65536)
        if not part:
            raise RuntimeError("the server closed a socket")
        self.buffer += part

    def frame(self) -> bytes | None:
        """The payload of the server's (unmasked) frame, once complete."""
        if len(self.buffer) < 2:
            return None
        length, start = self.buffer[1], 2
        if length > 125:
            start = 4 if length == 126 else 10
            if len(self.buffer) < start:
                return None
            [length] = struct.unpack("!H" if start == 4 else "!Q", self.buffer[2:start])
        if len(self.buffer) < start + length:
            return None
        payload, self.buffer = self.buffer[start:start + length], self.buffer[start + length:]
        return payload


class Crowd:
    """Sockets to these targets, closed at the end of the `with` block."""

    def __init__(self, port: int, targets: list[str]):
        allow_files(2 * len(targets) + 200)
        self.stack = contextlib.ExitStack()
        self.selector = self.stack.enter_context(selectors.DefaultSelector())
        self.listeners = []
        for target in targets:
            listener = Listener(port, target)
            self.stack.enter_context(contextlib.closing(listener.connection))
            self.selector.register(listener.connection, selectors.EVENT_READ, listener)
            self.listeners.append(listener)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def hear(self, mark: bytes) -> tuple[float, float]:
        """Waits until every socket has received a frame with this text; returns the times of the first and the last."""
        missing, moments = {listener for listener in self.listeners}, []
        for listener in self.listeners:
            self.take(listener, mark, missing, moments)
        end = time.perf_counter() + PATIENCE
        while missing:
            if time.perf_counter() > end:
                raise RuntimeError(f"{len(missing)} of {len(self.listeners)} sockets heard nothing within {PATIENCE} s")
            for key, _ in self.selector.select(1):
                key.data.read()
                self.take(key.data, mark, missing, moments)
        return moments[0], moments[-1]

    @staticmethod
    def take(listener: Listener, mark: bytes, missing: set, moments: list) -> None:
        while (payload := listener.frame()) is not None:
            if mark in payload:
                missing.discard(listener)
                moments.append(time.perf_counter())


def allow_files(wanted: int) -> None:
    """Raises the limit of open files for this process and for servers it starts."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
