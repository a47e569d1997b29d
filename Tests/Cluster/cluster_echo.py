#!/usr/bin/env python3
"""A replica that only says what reached it: cluster_echo.py NAME PORT

It answers with its name and the request as JSON. The field `X-Answer` asks for something else: `503`, `cut` (the
connection is closed without an answer) or `wait SECONDS`. An upgrade to a WebSocket is accepted, and what comes then is
sent back. SIGUSR1 makes it say that it is not ready, or ready again. `/seen/MARK` tells how many requests had the field
`X-Mark: MARK`.
"""

import asyncio
import base64
import collections
import hashlib
import json
import signal
import sys

NAME, PORT = sys.argv[1], int(sys.argv[2])
READY = "/_understudy/health/ready"
seen: collections.Counter = collections.Counter()
is_ready = True


def toggle() -> None:
    global is_ready
    is_ready = not is_ready


def answer(status: str, content: dict, *fields: str) -> bytes:
    body = json.dumps(content).encode()
    head = [f"HTTP/1.1 {status}", "Server: echo", "Content-Type: application/json", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join([*head, "", ""]).encode() + body


async def read_body(reader: asyncio.StreamReader, fields: dict) -> bytes:
    if fields.get("transfer-encoding") == "chunked":
        body = b""
        while size := int((await reader.readline()).strip(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return body
    return await reader.readexactly(int(fields.get("content-length", 0)))


async def echo_frames(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> None:
    digest = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Replica: " + NAME.encode()
        + b"\r\nSec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            method, target, _ = line.decode("latin-1").split(" ", 2)
            lines = []
            while (field := (await reader.readline()).decode("latin-1").rstrip("\r\n")):
                lines.append([part.strip() for part in field.split(":", 1)])
            fields = {name.lower(): value for name, value in lines}
            if fields.get("upgrade", "").lower() == "websocket":
                return await echo_frames(reader, writer, fields["sec-websocket-key"])
            body = await read_body(reader, fields)
            seen[fields.get("x-mark", "")] += 1
            order, _, detail = fields.get("x-answer", "").partition(" ")
            if order == "cut":
                return
            if order == "wait":
                await asyncio.sleep(float(detail))
            said = {
                "replica": NAME, "method": method, "target": target, "fields": lines, "length": len(body),
                "digest": hashlib.sha256(body).hexdigest()}
            if target == READY:
                writer.write(answer("200 OK" if is_ready else "503 Service Unavailable", {"ready": is_ready}))
            elif target.startswith("/seen/"):
                writer.write(answer("200 OK", {"count": seen[target.removeprefix("/seen/")]}))
            elif order == "503":
                writer.write(answer("503 Service Unavailable", said, "Retry-After: 1"))
            else:
                writer.write(answer("200 OK", said))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        # The proxy has closed the connection, as it may.
        pass
    finally:
        writer.close()


async def main() -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, toggle)
    async with await asyncio.start_server(serve, "127.0.0.1", PORT) as server:
        await server.serve_forever()


asyncio.run(main())
