"""The client of the library `websockets`, used step by step."""

import asyncio

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


class SocketClient:
    """The library's asynchronous client on a separate event loop.

    Its synchronous client reads and writes on two threads; over TLS with Python 3.11 a request was seen to get lost.
    """

    def __init__(self, url: str, **options):
        self.loop = asyncio.new_event_loop()
        try:
            self.socket = self.loop.run_until_complete(open_later(url, options))
        except BaseException:
            self.loop.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self.loop.close()

    def send(self, message) -> None:
        self.loop.run_until_complete(asyncio.wait_for(self.socket.send(message), 10))

    def receive(self):
        return self.loop.run_until_complete(asyncio.wait_for(self.socket.recv(), 10))

    def ping(self, data: bytes) -> float:
        """Waits for the pong with the same content; returns how many seconds it took."""
        async def exchange():
            return await asyncio.wait_for(await self.socket.ping(data), 10)

        return self.loop.run_until_complete(exchange())

    def end(self) -> int:
        """The code with which the server closes, ignoring everything it sends before."""
        try:
            while True:
                self.receive()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None, "the connection was lost without a closing frame"
            return closed.rcvd.code

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.loop.run_until_complete(self.socket.close(code, reason))


async def open_later(url: str, options: dict):
    return await connect(url, proxy=None, open_timeout=30, **options)
