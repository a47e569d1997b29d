"""Frames of RFC 6455 as bytes: a client that sends exactly what a test specifies."""

import socket
import struct
from dataclasses import dataclass

from endpoint import Endpoint

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
# The key of RFC 6455 section 1.3, whose answer is known.
HANDSHAKE = (
    b"GET /socket HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
MASK = b"\x01\x7f\x80\xfe"


@dataclass
class Frame:
    opcode: int
    payload: bytes

    @property
    def code(self) -> int:
        """The code of a close frame."""
        return struct.unpack("!H", self.payload[:2])[0]


def frame(opcode: int, payload: bytes = b"", *, final: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """A client frame; the reserved bits are those of the first byte."""
    masking = bytes(byte ^ MASK[index % 4] for index, byte in enumerate(payload)) if masked else payload
    return head(opcode, len(payload), final=final, reserved=reserved, masked=masked) + masking


def head(
    opcode: int, length: int, *, final: bool = True, reserved: int = 0, masked: bool = True, size: int | None = None,
) -> bytes:
    """The bytes before the payload; `size` sets the number of bytes for the length."""
    if size is None:
        size = 1 if length < 126 else 2 if length < 65536 else 8
    first, bit = (0x80 if final else 0) | reserved | opcode, 0x80 if masked else 0
    lengths = {1: bytes([bit | length & 0x7F]), 2: bytes([bit | 126]) + struct.pack("!H", length & 0xFFFF),
        8: bytes([bit | 127]) + struct.pack("!Q", length)}
    return bytes([first]) + lengths[size] + (MASK if masked else b"")


def close(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


def open_socket(door: Endpoint) -> socket.socket:
    """A connection after the opening handshake."""
    connection = door.connect()
    connection.sendall(HANDSHAKE)
    read_handshake(connection)
    return connection


def read_handshake(connection: socket.socket) -> None:
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += read(connection, 1)
    assert answer.startswith(b"HTTP/1.1 101 ") and b": s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer, answer


def read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        assert part, f"the connection ended after {data!r}"
        data += part
    return data


def read_frame(connection: socket.socket) -> Frame:
    """A server frame, which must be complete, without reserved bits or mask, and with the shortest length."""
    first, second = read(connection, 2)
    assert first & 0xF0 == 0x80 and second & 0x80 == 0, (first, second)
    length = second
    if second == 126:
        [length] = struct.unpack("!H", read(connection, 2))
        assert length > 125
    if second == 127:
        [length] = struct.unpack("!Q", read(connection, 8))
        assert length > 65535
    return Frame(first & 0x0F, read(connection, length))
