"""Real HTTP clients: persistent connections, chunked bodies, many concurrent calls."""

import asyncio
import http.client
import json

import aiohttp
import pytest
import requests
from world import API_KEY, DEVICE

PHONE = json.dumps({"name": "Work", "phone": "+15550102"}).encode()


@pytest.fixture
def headers(sandbox):
    token = sandbox.mint()
    return {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}"}


@pytest.fixture
def phones(sandbox):
    return sandbox.url + sandbox.customer("phonebook")


def test_requests_keeps_one_connection_through_answers_of_every_kind(headers, phones):
    with requests.Session() as session:
        session.headers.update(headers)
        created = session.post(phones, data=PHONE)
        statuses = [
            created.status_code, session.get(phones).status_code, session.head(phones).status_code,
            session.get(phones + "/none").status_code, session.delete(f"{phones}/{created.json()['id']}").status_code,
            session.get(phones, headers={"authorization": "Bearer x"}).status_code, session.get(phones).status_code,
        ]
        assert statuses == [201, 200, 200, 404, 204, 403, 200]
        pools = session.get_adapter(phones).poolmanager.pools
        [pool] = [pools[key] for key in pools.keys()]
        assert (pool.num_connections, pool.num_requests) == (1, 7)


def test_requests_uploads_in_chunks(headers, phones):
    created = requests.post(phones, data=(PHONE[index:index + 7] for index in range(0, len(PHONE), 7)), headers=headers)
    assert created.request.headers["Transfer-Encoding"] == "chunked"
    assert (created.status_code, created.json()["name"]) == (201, "Work")


def test_http_client_sends_chunks_one_by_one_on_a_kept_connection(server, sandbox, headers, phones):
    path = phones.removeprefix(server.url)
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    sockets = set()
    for _ in range(3):
        connection.request("POST", path, iter([PHONE[:1], PHONE[1:-1], PHONE[-1:]]), headers, encode_chunked=True)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["phone"]) == (201, "+15550102")
        sockets.add(connection.sock)
    assert len(sockets) == 1
    connection.close()


def test_a_body_over_the_limit_is_refused_in_the_vendor_s_shape(sandbox, headers, phones):
    refused = requests.post(phones, data=iter([b"x" * 65536] * 20), headers=headers)
    assert refused.status_code == 413
    assert set(refused.json()) == {"type", "code", "message"}
    assert sandbox.last_entry()["failure"] == "body-too-large"


def test_aiohttp_gets_its_own_answer_among_many_at_once(sandbox, headers, phones):
    async def create(session: aiohttp.ClientSession, index: int) -> bool:
        async def chunks():
            yield b'{"name":"'
            yield f'phone {index}"'.encode()
            yield b',"phone":"+15550102"}'

        async with session.post(phones, data=chunks()) as answer:
            return answer.status == 201 and (await answer.json())["name"] == f"phone {index}"

    async def create_all() -> list[bool]:
        connector = aiohttp.TCPConnector(limit=20)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            return await asyncio.gather(*(create(session, index) for index in range(200)))

    assert all(asyncio.run(create_all()))
    assert len(requests.get(phones, headers=headers).json()["phones"]) == 201
