"""HTTP/1.1 and WebSockets over asyncio, as far as the clients of the cluster need them."""

import asyncio
import base64
import json
import os
import struct
from dataclasses import dataclass

from players import frame

TIMEOUT = 10.0  # seconds for one answer


class Unanswered(Exception):
    """The connection ended, or time ran out, before the answer was complete."""


@dataclass
class Answer:
    status: int
    fields: dict[str, str]
    content: bytes

    def json(self):
        return json.loads(self.content) if self.content else None

    def is_unavailable(self) -> bool:
        """Whether a replica says that it has done nothing and that the call may be repeated."""
        return self.status == 503 and b'"sandbox-unavailable"' in self.content


def head(method: str, path: str, fields: dict[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode()


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.split(":", 1) for line in lines if line)
    return int(first.split(" ")[1]), {name.lower(): value.strip() for name, value in pairs}


async def read_content(reader: asyncio.StreamReader, status: int, fields: dict[str, str]) -> bytes:
    if status == 204:
        return b""
    if fields.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(fields["content-length"]))
    content = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        content += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return content


class Connection:
    """A persistent connection, opened when it is needed."""

    def __init__(self, port: int):
        self.port, self.streams = port, None

    async def ask(self, method: str, path: str, body=None, fields: dict | None = None, timeout: float = TIMEOUT) -> Answer:
        """- Raises: `Unanswered`; the next call then opens a new connection."""
        content = b"" if body is None else json.dumps(body).encode()
        all_fields = {"Host": f"127.0.0.1:{self.port}", **(fields or {})}
        if content or method in ("POST", "PUT", "PATCH"):
            all_fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        try:
            async with asyncio.timeout(timeout):
                return await self._exchange(head(method, path, all_fields) + content)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, KeyError, ValueError, IndexError) as error:
            self.close()
            raise Unanswered(f"{method} {path} had no answer: {error!r}") from None

    async def _exchange(self, request: bytes) -> Answer:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        reader, writer = self.streams
        writer.write(request)
        status, fields = await read_head(reader)
        content = await read_content(reader, status, fields)
        if fields.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, fields, content)

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def ask_once(port: int, method: str, path: str, body=None, timeout: float = TIMEOUT) -> Answer:
    """One call on a connection of its own."""
    connection = Connection(port)
    try:
        return await connection.ask(method, path, body, timeout=timeout)
    finally:
        connection.close()


class Socket:
    """A WebSocket that only listens."""

    def __init__(self, port: int, path: str):
        self.port, self.path, self.writer = port, path, None

    async def open(self) -> asyncio.StreamReader:
        key = base64.b64encode(os.urandom(16)).decode()
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.writer.write(head("GET", self.path, {
                    "Host": "localhost", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                    "Sec-WebSocket-Key": key}))
                status, _ = await read_head(reader)
        except (OSError, EOFError, TimeoutError) as error:
            raise Unanswered(f"a handshake had no answer: {error!r}") from None
        if status != 101:
            raise Unanswered(f"a handshake was answered with {status}")
        return reader

    async def listen(self, reader: asyncio.StreamReader) -> int | None:
        """Waits for the end; the code of the close frame, `None` if there was none."""
        try:
            while True:
                first, length = await reader.readexactly(2)
                if length >= 126:
                    size = 2 if length == 126 else 8
                    length = int.from_bytes(await reader.readexactly(size), "big")
                payload = await reader.readexactly(length)
                match first & 0x0F:
                    case 8:
                        self.writer.write(frame(8, payload[:2]))
                        return struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                    case 9:
                        self.writer.write(frame(10, payload))
        except (OSError, EOFError):
            return None

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
