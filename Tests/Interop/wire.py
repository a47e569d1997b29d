"""HTTP/1.1 as bytes: sends exactly what a test specifies, and reads answers without repairing them."""

import socket
from dataclasses import dataclass


@dataclass
class Answer:
    status: int
    fields: dict[str, str]
    body: bytes


def connect(port: int, timeout: float = 5) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout)


def exchange(port: int, data: bytes, ends_its_side: bool = True) -> bytes:
    """Everything received for these bytes until the other side ends the connection."""
    with connect(port) as connection:
        received = bytearray()
        try:
            connection.sendall(data)
            if ends_its_side:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                received += part
        except (ConnectionResetError, BrokenPipeError):
            # A proxy that refuses may close while the rest is being sent; what was received before counts.
            pass
        return bytes(received)


def read_answers(connection: socket.socket, count: int) -> list[Answer]:
    """This many final answers from a connection that stays open; each must have a length."""
    data = bytearray()
    while True:
        data += connection.recv(65536)
        try:
            found = answers(bytes(data))
        except AssertionError:
            continue
        if len(found) >= count:
            return found


def answers(data: bytes) -> list[Answer]:
    """The final answers in these bytes; anything not strictly framed fails."""
    found = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        assert end, f"the head is torn: {head!r}"
        line, *lines = head.split(b"\r\n")
        version, status, _ = line.split(b" ", 2)
        assert version in (b"HTTP/1.1", b"HTTP/1.0") and len(status) == 3, line
        fields = {}
        for field in lines:
            name, colon, value = field.partition(b":")
            assert colon and name and not name[:1].isspace(), field
            fields[name.decode().lower()] = value.strip().decode("latin-1")
        body, data = take_body(int(status), fields, data)
        if int(status) >= 200:
            found.append(Answer(int(status), fields, body))
    return found


def take_body(status: int, fields: dict[str, str], data: bytes) -> tuple[bytes, bytes]:
    if status < 200 or status in (204, 304):
        return b"", data
    if "transfer-encoding" in fields:
        body = b""
        while True:
            size, end, data = data.partition(b"\r\n")
            assert end, "the size of a chunk is torn"
            count = int(size, 16)
            assert len(data) >= count + 2, "a chunk is torn"
            body, data = body + data[:count], data[count + 2:]
            if count == 0:
                return body, data
    if "content-length" not in fields:
        return data, b""
    length = int(fields["content-length"])
    assert len(data) >= length, "the content is torn"
    return data[:length], data[length:]
