"""Network faults as each client reports them to its user."""

import asyncio
import http.client
import os
import socket
import ssl
import subprocess
import time

import aiohttp
import pytest
import requests
import wire
from child import needs_proc

DELAYED = 200


def curl(door, path: str) -> subprocess.CompletedProcess:
    command = ["curl", "-sS", "--max-time", "20", *map(str, door.curl_options), door.url + path]
    return subprocess.run(command, capture_output=True, text=True)


def send(connection: socket.socket, path: str) -> None:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode())


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


def under(connection: socket.socket) -> socket.socket:
    """The same connection below TLS."""
    below = socket.socket(fileno=os.dup(connection.fileno()))
    below.settimeout(5)
    return below


# MARK: clients


@pytest.mark.parametrize("path, codes, printed", [
    # curl exits with 35 if the reset falls into what it considers the handshake.
    ("/reset", {35, 56}, ""), ("/empty", {52}, ""), ("/garbage", {1, 8}, ""), ("/truncate?bytes=0", {18}, ""),
    ("/truncate?bytes=3", {18}, "012"), ("/truncate?bytes=11", {0}, "0123456789\n"),
    ("/drip?bytes=7&milliseconds=1", {0}, "0123456789\n"), ("/delay?milliseconds=1", {0}, "late\n"),
])
def test_curl_tells_the_faults_apart(door, path, codes, printed):
    answer = curl(door, path)
    assert answer.returncode in codes, answer.stderr
    assert answer.stdout == printed


@pytest.mark.parametrize("path, exception", [
    ("/reset", ConnectionResetError), ("/empty", http.client.RemoteDisconnected),
    ("/garbage", http.client.BadStatusLine), ("/truncate?bytes=3", http.client.IncompleteRead),
])
def test_http_client_tells_the_faults_apart(door, path, exception):
    connection = door.connection()
    connection.request("GET", path)
    with pytest.raises(exception):
        connection.getresponse().read()
    connection.close()


@pytest.mark.parametrize("path, exception, words", [
    # Over TLS Python treats the reset as an end.
    ("/reset", requests.ConnectionError, "reset by peer|without response"),
    ("/empty", requests.ConnectionError, "without response"), ("/garbage", requests.ConnectionError, "BadStatusLine"),
    ("/truncate?bytes=3", requests.exceptions.ChunkedEncodingError, "3 bytes read, 8 more expected"),
])
def test_requests_tells_the_faults_apart(door, path, exception, words):
    with pytest.raises(exception, match=words):
        requests.get(door.url + path, verify=door.verify)


@pytest.mark.parametrize("path, exception", [
    ("/reset", aiohttp.ClientOSError), ("/empty", aiohttp.ServerDisconnectedError),
    ("/garbage", aiohttp.ClientResponseError), ("/truncate?bytes=3", aiohttp.ClientPayloadError),
])
def test_aiohttp_tells_the_faults_apart(door, path, exception):
    async def get() -> bytes:
        async with aiohttp.ClientSession() as session:
            async with session.get(door.url + path, ssl=door.trust or True) as answer:
                return await answer.read()

    with pytest.raises(exception):
        asyncio.run(get())


# MARK: bytes


def test_a_reset_is_one_of_tcp_without_a_farewell(door):
    with door.connect() as connection, under(connection) as below:
        send(connection, "/reset")
        with pytest.raises(ConnectionResetError):
            read_all(below)


@pytest.mark.parametrize("path, received", [
    ("/empty", b""), ("/garbage", bytes(range(0x80, 0x100))), ("/truncate?bytes=3", b"\r\n\r\n012"),
])
def test_the_other_faults_end_in_good_order(door, path, received):
    with wire.connect(door.port) as connection:
        if door.is_secure:
            # Otherwise Python would treat the bare end of the connection as close_notify.
            connection = door.trust.wrap_socket(
                connection, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
        send(connection, path)
        found = read_all(connection)
        connection.close()
    assert found.endswith(received) if path.startswith("/truncate") else found == received


def test_a_drip_comes_in_the_portions_that_were_asked_for(door):
    with door.connect() as connection:
        # The pause is longer than the test, so only the first portion arrives.
        send(connection, "/drip?bytes=7&milliseconds=3600000")
        assert connection.recv(65536) == b"HTTP/1."
        connection.setblocking(False)
        with pytest.raises((BlockingIOError, ssl.SSLWantReadError)):
            connection.recv(65536)


def test_requests_behind_a_delayed_one_keep_their_order(door):
    with door.connect() as connection:
        for path in ("/delay?milliseconds=20", "/echo?1", "/drip?bytes=20&milliseconds=1", "/echo?2"):
            send(connection, path)
        bodies = [answer.body for answer in wire.read_answers(connection, 4)]
    assert bodies == [b"late\n", b"GET /echo?1\n", b"0123456789\n", b"GET /echo?2\n"]


@needs_proc
@pytest.mark.parametrize("path, body", [
    ("/delay?milliseconds=300", b"late\n"), ("/drip?bytes=30&milliseconds=50", b"0123456789\n"),
], ids=["delay", "drip"])
def test_two_hundred_that_wait_hold_no_thread(door, probe, path, body):
    trust, threads = door.trust, probe.thread_count

    def connect() -> socket.socket:
        connection = wire.connect(door.port, 20)
        return trust.wrap_socket(connection, server_hostname="127.0.0.1") if trust else connection

    connections = [connect() for _ in range(DELAYED)]
    try:
        begin = time.monotonic()
        for connection in connections:
            send(connection, path)
        threads_amid = probe.thread_count
        found = [wire.read_answers(connection, 1)[0].body for connection in connections]
        assert time.monotonic() - begin >= 0.2, "the pauses were kept"
        assert found == [body] * DELAYED
        # Threads of earlier tests may still be ending.
        assert max(threads_amid, probe.thread_count) <= threads
    finally:
        for connection in connections:
            connection.close()


# MARK: echo


@pytest.mark.parametrize("count", [0, 1, 65536, 20_000_000])
def test_contents_of_all_sizes_come_back(door, count):
    content = os.urandom(count)
    answer = requests.post(f"{door.url}/echo?x", content, verify=door.verify)
    assert answer.content == b"POST /echo?x\n" + content


@pytest.mark.parametrize("count", [1, 16384, 50_000_000])
def test_large_answers_arrive_whole(door, count):
    answer = requests.get(f"{door.url}/large?bytes={count}", verify=door.verify)
    assert answer.content == b"x" * count
