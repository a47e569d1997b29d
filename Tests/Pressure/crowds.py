"""Hostile crowds: each function plays one kind of client for a bounded time and returns what it saw.

The result is a line for people; ``Refused`` is raised for an answer that such a client should not get. A crowd runs on
one thread with non-blocking sockets, and closes them at the end.
"""

import contextlib
import selectors
import socket
import ssl
import struct
import time
from collections import Counter
from observer import Server

class Refused(Exception):
    """An answer that no client should get, whatever it did."""


REGISTER = "/api/v1/authentication/register"
SETTINGS = "/_understudy/settings"
CONNECTING = 64  # connections to open before serving the open ones


def head(method: str, path: str, *fields: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *fields, "", ""]).encode()


HEALTH = head("GET", "/_understudy/health")


def connect(port: int, receive_buffer: int | None = None) -> socket.socket:
    client = socket.socket()
    client.settimeout(10)
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect(("127.0.0.1", port))
    client.setblocking(False)
    return client


@contextlib.contextmanager
def crowd(port: int, count: int, receive_buffer: int | None = None):
    clients = [connect(port, receive_buffer) for _ in range(count)]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


def send(client: socket.socket, data: bytes) -> bool:
    """Returns False when the server has closed the connection."""
    try:
        client.send(data)
    except BlockingIOError:
        pass
    except OSError:
        return False
    return True


def statuses(clients: list[socket.socket], within: float) -> Counter:
    """The statuses that the clients receive until the server closes or time is up."""
    received = {client: b"" for client in clients}
    selector = selectors.DefaultSelector()
    for client in clients:
        selector.register(client, selectors.EVENT_READ)
    end = time.monotonic() + within
    while selector.get_map() and time.monotonic() < end:
        for key, _ in selector.select(0.1):
            try:
                part = key.fileobj.recv(65536)
            except OSError:
                part = b""
            received[key.fileobj] = (received[key.fileobj] + part)[:64]
            if not part:
                selector.unregister(key.fileobj)
    selector.close()
    return Counter(text.split(b" ")[1].decode() if text.startswith(b"HTTP/1.1 ") else "none"
                   for text in received.values())


def expect(seen: Counter, *allowed: str) -> str:
    """Reports the statuses if all are allowed; `none` stands for a connection without an answer."""
    if set(seen) - set(allowed):
        raise Refused(f"answers {dict(seen)}, expected {', '.join(allowed)} alone")
    return f"answers {dict(seen)}"


def dribbled_heads(server: Server, count: int, seconds: float) -> str:
    """Heads that arrive a byte at a time."""
    text = head("GET", "/_understudy/health", *[f"X-{index}: {'y' * 20}" for index in range(90)])
    with crowd(server.port, count) as clients:
        end, place = time.monotonic() + seconds, 0
        while time.monotonic() < end and place < len(text) - 1:
            alive = sum(send(client, text[place:place + 1]) for client in clients)
            place += 1
            time.sleep(0.05)
        return f"{count} clients, {place} bytes each, {alive} still connected"


def dribbled_bodies(server: Server, count: int, seconds: float) -> str:
    """Contents that arrive a byte at a time."""
    with crowd(server.port, count) as clients:
        for client in clients:
            send(client, head("POST", REGISTER, "Content-Length: 60000"))
        end, place = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            for client in clients:
                send(client, b"x")
            place += 1
            time.sleep(0.05)
        return f"{count} clients, {place} bytes each"


def slow_readers(server: Server, count: int, seconds: float) -> str:
    """Clients that request much and read nothing."""
    with crowd(server.port, count, receive_buffer=4096) as clients:
        end, asked = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            asked += sum(send(client, head("GET", "/_understudy/openapi.json") + HEALTH * 50) for client in clients)
            time.sleep(0.05)
        return f"{count} clients, {asked} times some 50 requests"


def steady_readers(server: Server, count: int, seconds: float) -> str:
    """Clients that read much slowly but steadily: none of them may be cut off."""
    with crowd(server.port, count, receive_buffer=65_536) as clients:
        for client in clients:
            send(client, head("GET", "/_understudy/openapi.json") * 400)
        end, read = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            time.sleep(0.25)
            for client in clients:
                try:
                    part = client.recv(4096)
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise Refused(f"a reader that took {read} bytes was given up: {error}") from None
                if not part:
                    raise Refused("a reader came to the end of what should have lasted longer")
                read += len(part)
        return f"{count} clients, {read} bytes taken"


def half_closed(server: Server, count: int, seconds: float) -> str:
    """Clients that close their side after a request, or within one."""
    seen = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with crowd(server.port, min(count, 200)) as clients:
            for index, client in enumerate(clients):
                send(client, HEALTH if index % 2 else HEALTH[:-3])
                client.shutdown(socket.SHUT_WR)
            seen += statuses(clients, 10)
    return expect(seen, "200", "400")


def connection_flood(server: Server, count: int, seconds: float) -> str:
    """Connections that are opened and immediately closed or reset."""
    end, opened = time.monotonic() + seconds, 0
    reset = struct.pack("ii", 1, 0)
    while time.monotonic() < end:
        for _ in range(CONNECTING):
            with contextlib.suppress(OSError), contextlib.closing(connect(server.port)) as client:
                opened += 1
                if opened % 2:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                if opened % 3 == 0:
                    send(client, HEALTH)
    return f"{opened} connections"


def idle_connections(server: Server, count: int, seconds: float) -> str:
    """Connections that send one request and stay open."""
    with crowd(server.port, count) as clients:
        for client in clients:
            send(client, HEALTH)
        time.sleep(seconds)
        return f"{count} connections, {server.descriptors()} descriptors in the server"


def large_bodies(server: Server, count: int, seconds: float) -> str:
    """50 MB per request against a limit of 64 kB: announced, and in chunks."""
    seen, part = Counter(), b"x" * 65536
    for index in range(max(2, count // 50)):
        with contextlib.closing(connect(server.port)) as client:
            client.settimeout(10)
            chunked = index % 2
            framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {50 << 20}"
            with contextlib.suppress(OSError):
                client.sendall(head("POST", REGISTER, framing))
                for _ in range((50 << 20) // len(part)):
                    client.sendall(b"10000\r\n" + part + b"\r\n" if chunked else part)
            client.setblocking(False)
            seen += statuses([client], 10)
    return expect(seen, "413")


def uploads(server: Server, count: int, seconds: float) -> str:
    """8 MB in chunks on all connections at once, to a route that accepts 10 MB: more than all together may send."""
    seen, part = Counter(), b"10000\r\n" + b"x" * 65536 + b"\r\n"
    for _ in range(3):
        with crowd(server.port, count) as clients:
            for client in clients:
                client.settimeout(10)
                with contextlib.suppress(OSError):
                    client.sendall(
                        head("POST", "/apispaces/none/content", "Transfer-Encoding: chunked", "Connection: close"))
                    for _ in range((8 << 20) // 65536):
                        client.sendall(part)
            for client in clients:
                with contextlib.suppress(OSError):
                    client.sendall(b"0\r\n\r\n")
                client.setblocking(False)
            seen += statuses(clients, 10)
    return expect(seen, "404", "503")


def many_field_lines(server: Server, count: int, seconds: float) -> str:
    """10,000 field lines in a head."""
    text = head("GET", "/_understudy/health", *[f"X-{index}: y" for index in range(10_000)])
    with crowd(server.port, count) as clients:
        for client in clients:
            send(client, text)
        return expect(statuses(clients, 10), "431")


def deep_json(server: Server, count: int, seconds: float) -> str:
    """Contents of opening brackets only."""
    body = b"[" * 60_000
    seen = Counter()
    for _ in range(max(1, count // 100)):
        with crowd(server.port, 100) as clients:
            for client in clients:
                client.setblocking(True)
                client.sendall(head("PUT", SETTINGS, f"Content-Length: {len(body)}", "Connection: close") + body)
                client.setblocking(False)
            seen += statuses(clients, 10)
    return expect(seen, "400")


def stalled_handshakes(server: Server, count: int, seconds: float) -> str:
    """TLS connections that send nothing, or half a ClientHello."""
    if server.tls_port is None:
        return "no TLS here"
    with crowd(server.tls_port, count) as clients:
        for client in clients[::2]:
            send(client, bytes([0x16, 3, 1, 2, 0, 1]))
        time.sleep(seconds)
        return f"{count} connections"


def secure_slow_readers(server: Server, count: int, seconds: float) -> str:
    """Clients that request much over TLS and read nothing."""
    if server.tls_port is None:
        return "no TLS here"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with crowd(server.tls_port, count, receive_buffer=4096) as clients:
        for client in clients:
            client.setblocking(True)
        wrapped = [context.wrap_socket(client) for client in clients]
        for client in wrapped:
            client.setblocking(False)
        end, asked = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            for client in wrapped:
                with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, OSError):
                    asked += client.send(HEALTH * 50) > 0
            time.sleep(0.05)
        for client in wrapped:
            client.close()
        return f"{count} clients, {asked} times some 50 requests"


ALL = {
    "dribbled-heads": (dribbled_heads, 300), "dribbled-bodies": (dribbled_bodies, 300),
    "slow-readers": (slow_readers, 200), "secure-slow-readers": (secure_slow_readers, 100),
    "steady-readers": (steady_readers, 20), "half-closed": (half_closed, 200), "connection-flood": (connection_flood, 0),
    "idle-connections": (idle_connections, 9_000), "too-many-connections": (idle_connections, 14_000),
    "large-bodies": (large_bodies, 200), "uploads": (uploads, 50),
    "many-field-lines": (many_field_lines, 100), "deep-json": (deep_json, 300),
    "stalled-handshakes": (stalled_handshakes, 300),
}
