"""Clients that make the server keep much at once: messages that nobody reads, uploads, and answers that are read slowly.

Each is played like a crowd, on a server of its own, which must stay below ``MOST_MEGABYTES`` of resident memory.
"""

import http.client
import itertools
import threading
import time
from collections import Counter

from crowds import Refused, crowd, expect, head, send, statuses
from observer import Server
from players import SPACE, Client

MOST_MEGABYTES = 300


def token(client: Client) -> dict[str, str]:
    minted = client.control("POST", "tokens/comapi/session", {"profile": "mira"})
    return {"Authorization": f"Bearer {minted['token']}"}


def unread_sockets(server: Server, count: int, seconds: float) -> str:
    """WebSockets that read nothing, while long and then short messages go to all of them."""
    client = Client(server.port, "default")
    session = token(client)
    client.ask("POST", f"{SPACE}/conversations", {"id": "crowd", "name": "Crowd"}, status=201, **session)
    upgrade = head("GET", f"{SPACE}/socket?token={session['Authorization'].split()[1]}", "Connection: Upgrade",
                   "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    with crowd(server.port, count, receive_buffer=4096) as clients:
        for one in clients:
            send(one, upgrade)
        end = time.monotonic() + 30
        while client.metrics()["understudy_open_websockets"] < count:
            if time.monotonic() > end:
                raise Refused(f"of {count} sockets, {client.metrics()['understudy_open_websockets']:.0f} were opened")
            time.sleep(0.05)
        slowest = 0.0
        for size in [20_000] * 60 + [900] * 400:
            begin = time.monotonic()
            part = {"type": "text/plain", "data": "x" * size}
            client.ask("POST", f"{SPACE}/conversations/crowd/messages", {"parts": [part]}, **session)
            slowest = max(slowest, time.monotonic() - begin)
        left = client.metrics()["understudy_open_websockets"]
    client.close()
    return f"{count} sockets, of which {left:.0f} stayed; slowest of 460 messages {slowest * 1000:.0f} ms"


def many_uploads(server: Server, count: int, seconds: float) -> str:
    """Uploads of 9 MB, seven into each sandbox, eight at once; when the sandboxes are gone there is room again."""
    names = [f"uploads-{index}" for index in range(max(1, count // 7))]
    orders, seen, body = itertools.count(), Counter(), b"x" * (9 << 20)

    def upload(name: str, port: int) -> int:
        client = Client(port, name)
        try:
            session = token(client)
            client.connection.request("POST", f"/~{name}{SPACE}/content", body, {**session, "Content-Type": "image/png"})
            answer = client.connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            # A server that refuses the rest of a content may be heard only after that content, or not at all.
            return 0
        finally:
            client.close()

    def work() -> None:
        while (order := next(orders)) < count:
            status = upload(names[order % len(names)], server.port)
            seen[str(status or "none")] += 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client = Client(server.port, "default")
    for name in names:
        client.ask("DELETE", f"/_understudy/sandboxes/{name}", status=204)
    client.close()
    if (status := upload("after", server.port)) != 200:
        raise Refused(f"an upload after all others were deleted was answered with {status}")
    return expect(seen, "200", "413")


def slow_exports(server: Server, count: int, seconds: float) -> str:
    """Clients that ask for a long export of the journal and read it much later."""
    client = Client(server.port, "default")
    for index in range(900):
        client.ask("POST", f"/nowhere/{index}", {"text": "x" * 2500}, status=404)
    length = len(client.ask("GET", "/_understudy/journal?format=har"))
    client.close()
    with crowd(server.port, count, receive_buffer=4096) as clients:
        for one in clients:
            send(one, head("GET", "/_understudy/journal?format=har", "Connection: close"))
        time.sleep(max(seconds, 5))
        seen = expect(statuses(clients, 90), "200", "503")
    return f"{count} exports of {length / 1e6:.1f} MB: {seen}"


ALL = {
    "unread-sockets": (unread_sockets, 3_000), "many-uploads": (many_uploads, 280), "slow-exports": (slow_exports, 200),
}
