"""The server reads requests exactly as the third-party proxies in front of it do."""

import asyncio
import json
import sys

import aiohttp
import pytest
import requests
import wire
from hostile import CASES
from proxies import Proxy
from world import API_KEY, DEVICE

# On every other system Apache's modules are in a different place.
PROXIES = ["nginx", "nginx-buffering", "nginx-secure", "haproxy", *(["apache"] if sys.platform == "linux" else [])]


@pytest.fixture(scope="module", params=["direct", *PROXIES])
def way(request, server, tmp_path_factory):
    """A port through which the server can be reached, and the name of the proxy in between."""
    if request.param == "direct":
        yield request.param, server.port
        return
    proxy = Proxy(request.param, tmp_path_factory.mktemp(request.param), server)
    yield request.param, proxy.port
    proxy.stop()


def marker(at: str) -> bytes:
    """Requests the sandbox's journal: a distinctive answer that leaves no trace itself."""
    return f"GET {at}/_understudy/journal HTTP/1.1\r\nHost: marker\r\nConnection: close\r\n\r\n".encode()


def entries_in(answer: wire.Answer) -> list[dict] | None:
    """The journal, if this is the answer to a marker."""
    if answer.status == 200 and answer.fields.get("content-type", "").startswith("application/json"):
        return json.loads(answer.body).get("entries")
    return None


def is_ours(answer: wire.Answer) -> bool:
    """Whether the answer came from the emulator, not from its engine or the proxy."""
    return answer.fields.get("content-type", "").startswith("application/json")


def may_fail_so(answer: wire.Answer) -> bool:
    """Apache answers unknown codings with a 500 page of its own and does not forward them."""
    return answer.status in (501, 505) or (answer.status == 500 and "Apache" in answer.fields.get("server", ""))


def play(name: str, port: int, number: int, case) -> list[str]:
    """Sends one case followed by a marker, then a separate marker; returns what went wrong."""
    at = f"/~{PROXIES.index(name) if name in PROXIES else 'd'}-{number:06}"
    assert len(at) == 10
    found = wire.answers(wire.exchange(port, case.bytes(at) + marker(at)))
    after = wire.answers(wire.exchange(port, marker(at)))
    faults = []
    if len(after) != 1 or entries_in(after[0]) is None:
        return [f"the marker was answered by {after}"]
    entries = entries_in(after[0])
    statuses = [answer.status for answer in found]
    markers = [answer for answer in found if entries_in(answer) is not None]
    served = [answer for answer in found if is_ours(answer) and entries_in(answer) is None]
    if any(answer.status >= 500 and not may_fail_so(answer) for answer in found):
        faults.append(f"statuses {statuses}")
    if len(markers) > 1 or (markers and found[-1] is not markers[0]):
        faults.append(f"markers among {statuses}")
    if len(served) != len(entries):
        faults.append(f"{len(served)} answers for {len(entries)} requests")
    targets = [entry["request"]["target"] for entry in entries]
    if "/hidden" in targets:
        faults.append("the hidden request was read")
    # The journal gives the size of content that it cannot mask; any other reading of a case has a different size.
    bodies = [entry["request"]["body"] or "" for entry in entries]
    body = case.expected_body(at)
    expected = (case.target, f"({len(body)} bytes)" if body else "")
    if name == "direct":
        if list(zip(targets, bodies)) != ([expected] if case.is_sound else []):
            faults.append(f"read as {targets} {bodies}")
        if not case.is_sound and len(found) > 1:
            faults.append(f"answered behind the fault: {statuses}")
    elif case.is_sound and entries and (targets[0], bodies[0]) != expected:
        faults.append(f"read as {targets} {bodies}")
    return faults


def test_nobody_reads_another_request_than_the_proxy_did(way):
    name, port = way
    assert len(CASES) > 300
    faults = [(case.name, faults) for number, case in enumerate(CASES) if (faults := play(name, port, number, case))]
    assert not faults, "\n".join(f"{case}: {'; '.join(found)}" for case, found in faults)


@pytest.fixture
def at(sandbox) -> str:
    """The path that selects this test's own sandbox, for every way to the server."""
    return sandbox.url.removeprefix(sandbox.server.url)


@pytest.fixture
def headers(sandbox):
    token = sandbox.mint()
    return {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}"}


def bodies_of(sandbox) -> list:
    return [entry["request"]["body"] for entry in sandbox.control("GET", "journal")["entries"]]


@pytest.mark.parametrize("parts", [[b"x" * 10_000] * 100, [b"x"] * 500 + [b"y" * 999] * 500], ids=["even", "uneven"])
@pytest.mark.parametrize("in_chunks", [False, True], ids=["length", "chunks"])
def test_uploads_arrive_whole_on_one_connection(way, at, sandbox, parts, in_chunks):
    with requests.Session() as session:
        for _ in range(3):
            content = iter(parts) if in_chunks else b"".join(parts)
            assert session.post(f"http://127.0.0.1:{way[1]}{at}/upload", data=content).status_code == 404
    assert bodies_of(sandbox) == [f"({sum(map(len, parts))} bytes)"] * 3


def test_requests_behind_one_another_are_answered_in_order(way, at, sandbox):
    count = 40
    requests = [f"POST {at}/{n} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {n}\r\n\r\n{'x' * n}" for n in range(count)]
    # HAProxy answers only the first request if it sees early enough that the client has closed its side.
    received = wire.exchange(way[1], "".join(requests).encode() + marker(at), ends_its_side=False)
    answers = wire.answers(received)
    assert [answer.status for answer in answers] == [404] * count + [200]
    entries = entries_in(answers[-1])
    assert [entry["request"]["target"] for entry in entries] == [f"/{n}" for n in range(count)]
    assert [entry["request"]["body"] for entry in entries] == [f"({n} bytes)" if n else None for n in range(count)]


def test_head_has_no_content_and_the_connection_goes_on(way, at, sandbox, headers):
    phones = f"http://127.0.0.1:{way[1]}{at}{sandbox.customer('phonebook')}"
    with requests.Session() as session:
        session.headers.update(headers)
        for _ in range(3):
            head, get = session.head(phones), session.get(phones)
            assert (head.status_code, get.status_code, head.content) == (200, 200, b"")
            assert head.headers["Content-Length"] == str(len(get.content))


def test_a_client_that_waits_for_the_interim_answer_is_served(way, at, sandbox):
    with wire.connect(way[1]) as connection:
        for _ in range(2):
            head = f"PUT {at}/awaited HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
            connection.sendall(head.encode())
            interim = b""
            while not interim.endswith(b"\r\n\r\n"):
                interim += connection.recv(1)
            assert interim.startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"hello")
            [answer] = wire.read_answers(connection, 1)
            assert answer.status == 404
    assert bodies_of(sandbox) == ["(5 bytes)"] * 2


def test_many_connections_get_each_its_own_answer(way, at, sandbox, headers):
    phones = f"http://127.0.0.1:{way[1]}{at}{sandbox.customer('phonebook')}"

    async def create(session: aiohttp.ClientSession, index: int) -> bool:
        body = json.dumps({"name": f"phone {index}", "phone": "+15550102"}).encode()
        content = aiohttp.BytesPayload(body) if index % 2 else stream(body)
        async with session.post(phones, data=content) as answer:
            return answer.status == 201 and (await answer.json())["name"] == f"phone {index}"

    async def stream(body: bytes):
        for start in range(0, len(body), 9):
            yield body[start:start + 9]

    async def create_all() -> list[bool]:
        connector = aiohttp.TCPConnector(limit=50)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            return await asyncio.gather(*(create(session, index) for index in range(200)))

    assert all(asyncio.run(create_all()))
