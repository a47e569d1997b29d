"""WebSockets opened by a third-party client, and frames that no client sends."""

import asyncio
import contextlib
import errno
import select
import socket
import time

import frames
import pytest
import wire
from child import needs_proc
from frames import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, frame
from probe import Probe
from socket_client import SocketClient, open_later
from websockets.exceptions import ConnectionClosed, InvalidStatus

LENGTHS = [0, 1, 124, 125, 126, 127, 128, 65534, 65535, 65536, 65537, 262144]
CROWD = 1000


def address(door, query: str = "") -> str:
    return f"{door.url.replace('http', 'ws', 1)}/socket{query}"


def opened(door, query: str = "", **options) -> SocketClient:
    return SocketClient(address(door, query), ssl=door.trust, **options)


@pytest.fixture
def client(door):
    with opened(door) as client:
        yield client


@pytest.fixture
def raw(door):
    with frames.open_socket(door) as connection:
        yield connection


def is_at_end(connection: socket.socket) -> bool:
    """Whether the server has ended its side properly; over TLS with close_notify."""
    return connection.recv(1) == b""


# MARK: messages


def test_messages_of_all_lengths_come_back_as_they_were(client):
    for length in LENGTHS:
        for message in ("x" * length, b"\x80" * length, "ž" * (length // 2)):
            client.send(message)
            assert client.receive() == message


def test_messages_sent_at_once_come_back_in_order(client):
    for number in range(500):
        client.send(f"message {number}")
    assert [client.receive() for _ in range(500)] == [f"message {number}" for number in range(500)]


@pytest.mark.parametrize("parts", [
    ["a", "b"], ["", "", ""], ["x" * 65536] * 3, [b"a", b"", b"b" * 126], [b"x"] * 300,
], ids=["two", "empty", "large", "binary", "many"])
def test_fragments_come_back_as_one_message(client, parts):
    client.send(iter(parts))
    assert client.receive() == parts[0][:0].join(parts)


def test_a_code_point_may_lie_in_two_fragments(raw):
    text = "ž€𝄞".encode()
    for position in range(1, len(text)):
        raw.sendall(frame(TEXT, text[:position], final=False) + frame(CONTINUATION, text[position:]))
        assert frames.read_frame(raw) == frames.Frame(TEXT, text)


def test_pings_between_fragments_are_answered_at_once(client):
    async def parts():
        for number in range(5):
            await asyncio.wait_for(await client.socket.ping(f"ping {number}"), 10)
            yield f"part {number} "

    client.send(parts())
    assert client.receive() == "".join(f"part {number} " for number in range(5))


def test_frames_torn_anywhere_are_read(raw):
    sent = frame(TEXT, b"one") + frame(PING, b"two") + frame(BINARY, b"x" * 126)
    for index in range(len(sent)):
        raw.sendall(sent[index:index + 1])
    found = [frames.read_frame(raw) for _ in range(3)]
    # A pong may overtake a message.
    assert [each for each in found if each.opcode != PONG] == [
        frames.Frame(TEXT, b"one"), frames.Frame(BINARY, b"x" * 126)]
    assert frames.Frame(PONG, b"two") in found


def test_frames_that_come_with_the_handshake_are_read(door):
    with door.connect() as connection:
        connection.sendall(frames.HANDSHAKE + frame(TEXT, b"eager"))
        frames.read_handshake(connection)
        assert frames.read_frame(connection) == frames.Frame(TEXT, b"eager")


# MARK: handshakes


@pytest.mark.parametrize("query, chosen", [("", None), ("?subprotocol=b", "b"), ("?subprotocol=c", None)])
def test_a_subprotocol_is_agreed_on_only_if_it_is_offered_and_chosen(door, query, chosen):
    with opened(door, query, subprotocols=["a", "b"]) as client:
        assert client.socket.subprotocol == chosen
        client.send("hello")
        assert client.receive() == "hello"


def test_compression_is_offered_and_not_agreed_on(client):
    assert "permessage-deflate" in client.socket.request.headers["Sec-WebSocket-Extensions"]
    assert "Sec-WebSocket-Extensions" not in client.socket.response.headers
    assert client.socket.protocol.extensions == []


def test_a_handshake_where_no_websocket_is_gets_the_answer_of_that_place(door):
    with pytest.raises(InvalidStatus) as refusal:
        SocketClient(address(door).replace("/socket", "/nothing"), ssl=door.trust)
    assert refusal.value.response.status_code == 404


@pytest.mark.parametrize("change, status", [
    ((b"Upgrade: websocket\r\n", b""), 426), ((b"Version: 13", b"Version: 8"), 426), ((b"GET", b"PUT"), 400),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b"c2hvcnQ="), 400), ((b"HTTP/1.1", b"HTTP/1.0"), 400),
], ids=["no-upgrade", "old-version", "put", "short-key", "http-1.0"])
def test_a_wrong_handshake_is_refused(door, change, status):
    with door.connect() as connection:
        connection.sendall(frames.HANDSHAKE.replace(b"Upgrade\r\n", b"Upgrade, close\r\n").replace(*change))
        received = b""
        while part := connection.recv(65536):
            received += part
    assert [answer.status for answer in wire.answers(received)] == [status]


# MARK: ends


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1007, 1008, 1011, 1012, 3000, 4999])
def test_a_client_that_closes_hears_its_code_again(client, code):
    client.close(code, "enough")
    assert client.socket.protocol.close_rcvd.code == code
    assert not client.socket.protocol.close_rcvd_then_sent


@pytest.mark.parametrize("order, code, reason", [
    ("close 1000", 1000, ""), ("close 1001 going", 1001, "going"), ("close 4001 " + "ž" * 61, 4001, "ž" * 61),
    ("close 4001 " + "ž" * 62, 4001, "ž" * 61), ("close 1005", 1005, ""),
], ids=["normal", "reason", "long-reason", "too-long-reason", "no-code"])
def test_a_client_hears_why_the_server_closes(client, order, code, reason):
    client.send(order)
    with pytest.raises(ConnectionClosed) as end:
        client.receive()
    assert (end.value.rcvd.code, end.value.rcvd.reason) == (code, reason)
    assert end.value.rcvd_then_sent


def test_a_close_frame_without_a_code_is_answered_by_one(raw):
    raw.sendall(frame(CLOSE))
    assert frames.read_frame(raw) == frames.Frame(CLOSE, b"")
    assert is_at_end(raw)


INVALID = [
    ("unmasked", frame(TEXT, b"hello", masked=False), 1002),
    *[(f"reserved-{bit:x}", frame(TEXT, b"hello", reserved=bit), 1002) for bit in (0x40, 0x20, 0x10)],
    *[(f"opcode-{opcode:x}", frame(opcode), 1002) for opcode in (3, 7, 0xB, 0xF)],
    ("long-ping", frame(PING, b"x" * 126), 1002),
    ("fragmented-ping", frame(PING, final=False), 1002),
    ("stray-continuation", frame(CONTINUATION, b"hello"), 1002),
    ("message-in-message", frame(TEXT, b"a", final=False) + frame(TEXT, b"b"), 1002),
    ("length-of-two-bytes", frames.head(TEXT, 125, size=2), 1002),
    ("length-of-eight-bytes", frames.head(TEXT, 65535, size=8), 1002),
    ("length-with-highest-bit", frames.head(BINARY, 1 << 63, size=8), 1002),
    ("half-a-code", frame(CLOSE, b"\x03"), 1002),
    *[(f"code-{code}", frames.close(code), 1002) for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000)],
    ("reason", frames.close(1000, b"\xff"), 1007),
    *[(f"text-{text.hex()}", frame(TEXT, text), 1007)
        for text in (b"\xff", b"a\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")],
    ("text-at-once", frames.head(TEXT, 1000) + bytes(byte ^ mask for byte, mask in zip(b"ab\xff", frames.MASK)), 1007),
    ("oversize", frames.head(BINARY, 262145), 1009),
    ("oversize-in-fragments", frame(BINARY, b"x" * 200_000, final=False) + frames.head(CONTINUATION, 62_145), 1009),
    ("oversize-beyond-all-bounds", frames.head(BINARY, (1 << 63) - 1), 1009),
]


@pytest.mark.parametrize("sent, code", [case[1:] for case in INVALID], ids=[case[0] for case in INVALID])
def test_an_invalid_frame_ends_the_connection_with_its_code(raw, sent, code):
    raw.sendall(frame(TEXT, b"before"))
    assert frames.read_frame(raw) == frames.Frame(TEXT, b"before")
    raw.sendall(sent + frame(TEXT, b"never"))
    last = frames.read_frame(raw)
    assert (last.opcode, last.code) == (CLOSE, code)
    assert last.payload[2:].decode(), "it says why"
    assert is_at_end(raw)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_stops_says_so_to_everybody(tmp_path, scheme):
    probe = Probe(tmp_path)
    try:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(opened(probe.doors[scheme])) for _ in range(10)]
            probe.process.terminate()
            for client in clients:
                with pytest.raises(ConnectionClosed) as end:
                    client.receive()
                assert end.value.rcvd.code == 1001
    finally:
        assert probe.stop() == 0


# MARK: crowds


@needs_proc
def test_a_thousand_sockets_get_one_broadcast(door, probe, capsys):
    threads = probe.thread_count

    async def connect_all(stack: contextlib.AsyncExitStack) -> list:
        trust = door.trust
        opening = asyncio.Semaphore(50)

        async def connect_one():
            async with opening:
                return await open_later(address(door), {"ssl": trust, "compression": None, "ping_interval": None})

        sockets = await asyncio.gather(*(connect_one() for _ in range(CROWD)))
        for client in sockets:
            stack.push_async_callback(client.close)
        return sockets

    async def broadcast() -> tuple:
        async with contextlib.AsyncExitStack() as stack:
            sockets = await connect_all(stack)
            begin = time.monotonic()
            await sockets[0].send("broadcast to all")
            received = await asyncio.gather(*(client.recv() for client in sockets))
            return received, time.monotonic() - begin, probe.thread_count

    received, seconds, threads_amid = asyncio.run(broadcast())
    with capsys.disabled():
        print(f"\n{CROWD} sockets by {door.scheme}: the last had its broadcast after {seconds * 1000:.0f} ms")
    assert received == ["broadcast to all"] * CROWD
    # Threads of earlier tests may still be ending.
    assert threads_amid <= threads


def test_a_flood_that_is_read_arrives(client):
    client.send("flood 10")
    assert [len(client.receive()) for _ in range(10)] == [65536] * 10


@needs_proc
def test_a_client_that_reads_nothing_is_dropped_and_costs_nobody_anything(door, probe):
    memory = probe.resident_megabytes
    with opened(door) as other, frames.open_socket(door) as slow:
        breakage = select.poll()
        breakage.register(slow, 0)
        slow.sendall(frame(TEXT, b"flood 2000"))
        for number in range(200):
            other.send(f"message {number}")
            assert other.receive() == f"message {number}"
        [(_, event)] = breakage.poll(30_000)
        assert event & select.POLLERR
        assert slow.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET
        other.send("and now")
        assert other.receive() == "and now"
    assert probe.resident_megabytes - memory < 64
