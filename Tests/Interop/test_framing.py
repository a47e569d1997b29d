"""Framing as clients of every kind do it, each at the endpoint that `endpoint` names."""

import asyncio
import json
import shutil
import subprocess

import aiohttp
import pytest
import requests
import wire
from endpoint import Endpoint
from world import API_KEY, DEVICE

MEGABYTE = 1_000_000


@pytest.fixture(scope="session", params=["http", "https"])
def endpoint(request, server):
    secure = Endpoint("https", server.secure_port, server.authority)
    return secure if request.param == "https" else Endpoint("http", server.port)


@pytest.fixture
def at(sandbox) -> str:
    return sandbox.url.removeprefix(sandbox.server.url)


@pytest.fixture
def phones(endpoint, sandbox, at):
    return endpoint.url + at + sandbox.customer("phonebook")


@pytest.fixture
def headers(sandbox):
    token = sandbox.mint()
    return {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}"}


@pytest.fixture
def upload(tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(b"x" * MEGABYTE)
    return path


def program(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is not installed; docker/bootstrap.sh ci installs it"
    return path


def curl(endpoint, *options, check: bool = True) -> subprocess.CompletedProcess:
    command = [program("curl"), "-sS", "--max-time", "20", *endpoint.curl_options, *map(str, options)]
    return subprocess.run(command, check=check, capture_output=True, text=True)


def status(*options) -> list:
    """Options that print the status, the version and the number of connections after each content."""
    return ["-o", "/dev/null", "-w", "%{http_code} %{http_version} %{num_connects}\n", *options]


def requests_in(sandbox) -> list[tuple]:
    entries = sandbox.control("GET", "journal")["entries"]
    return [(entry["request"]["method"], entry["request"]["body"], entry["status"]) for entry in entries]


def phone(name: str = "Work") -> bytes:
    return json.dumps({"name": name, "phone": "+15550102"}).encode()


# MARK: curl


# Over TLS curl would negotiate http/1.0 in the handshake and nothing else.
VERSION_1_0 = ["--http1.0"]


@pytest.mark.parametrize("options", [[], ["--http1.1"], VERSION_1_0], ids=["as-it-likes", "1.1", "1.0"])
def test_curl_is_answered_in_our_version(endpoint, phones, options):
    assert curl(endpoint, *status(*options, phones)).stdout == "403 1.1 1\n"


def test_curl_keeps_its_connection(endpoint, phones):
    printed = curl(endpoint, *status(phones), *status(phones), *status("-I", phones), *status(phones)).stdout
    assert printed == "403 1.1 1\n" + "403 1.1 0\n" * 3


def test_curl_of_version_1_0_makes_a_connection_for_each(endpoint, phones):
    printed = curl(endpoint, *VERSION_1_0, *status(phones), *status(phones)).stdout
    assert printed == "403 1.1 1\n" * 2


def test_curl_with_prior_knowledge_of_http_2_is_refused_cleanly(endpoint, phones):
    if endpoint.is_secure:
        pytest.skip("a secured door agrees on the version in its handshake")
    refused = curl(endpoint, "--http2-prior-knowledge", phones, check=False)
    assert refused.returncode != 0 and refused.returncode != 28, "it was refused and did not wait"
    received = wire.exchange(endpoint.port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert [answer.status for answer in wire.answers(received)] == [505]


def test_curl_asks_for_http_2_and_takes_what_it_gets(endpoint, phones):
    assert curl(endpoint, *status("--http2", phones)).stdout == "403 1.1 1\n"


@pytest.mark.parametrize("options", [
    ["--data-binary"], ["-H", "Transfer-Encoding: chunked", "--data-binary"],
    ["-H", "Expect: 100-continue", "--data-binary"],
    ["-H", "Expect: 100-continue", "-H", "Transfer-Encoding: chunked", "--data-binary"],
    [*VERSION_1_0, "--data-binary"],
], ids=["length", "chunks", "awaited", "awaited-chunks", "version-1.0"])
def test_curl_uploads_a_megabyte(endpoint, sandbox, at, upload, options):
    answer = curl(endpoint, *status(), *options, f"@{upload}", f"{endpoint.url}{at}/upload")
    assert answer.stdout == "404 1.1 1\n"
    assert requests_in(sandbox) == [("POST", f"({MEGABYTE} bytes)", 404)]


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_curl_puts_a_file_or_what_comes_by_a_pipe(endpoint, sandbox, at, upload, source):
    name = upload if source == "file" else "-"
    command = [program("curl"), "-sS", *endpoint.curl_options, *status(), "-T", name, f"{endpoint.url}{at}/upload"]
    with upload.open("rb") as content:
        answer = subprocess.run(command, stdin=content, check=True, capture_output=True, text=True)
    assert answer.stdout == "404 1.1 1\n"
    assert requests_in(sandbox) == [("PUT", f"({MEGABYTE} bytes)", 404)]


def test_curl_keeps_what_clients_leave_bare_in_a_target(endpoint, sandbox, at):
    curl(endpoint, "-g", *status(f"{endpoint.url}{at}/a[1]^?b[]={{2}}|"))
    [entry] = sandbox.control("GET", "journal")["entries"]
    assert entry["request"]["target"] == "/a[1]^?b[]={2}|"


# MARK: raw


def test_pipelined_requests_of_all_framings_are_answered_in_order(endpoint, sandbox, at):
    head = "Host: a.test\r\n"
    texts = [
        f"GET {at}/0 HTTP/1.1\r\n{head}\r\n", f"POST {at}/1 HTTP/1.1\r\n{head}Content-Length: 3\r\n\r\nabc",
        f"\r\nPUT {at}/2 HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n"
        "2;a=b\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n",
        f"GET {at}/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        f"DELETE {at}/4 HTTP/1.1\r\n{head}Connection: close\r\n\r\n",
        f"GET {at}/never HTTP/1.1\r\n{head}\r\n",
    ]
    with endpoint.connect() as connection:
        connection.sendall("".join(texts).encode())
        received = b""
        while part := connection.recv(65536):
            received += part
    assert [answer.status for answer in wire.answers(received)] == [404] * 5
    entries = sandbox.control("GET", "journal")["entries"]
    assert [entry["request"]["target"] for entry in entries] == ["/0", "/1", "/2", "/3", "/4"]


def test_a_refusal_arrives_whole_while_megabytes_are_unsent(endpoint):
    with endpoint.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost : a\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000)
        received = b""
        while part := connection.recv(65536):
            received += part
    [answer] = wire.answers(received)
    assert (answer.status, answer.fields["connection"], answer.body) == (400, "close", b"")
    assert answer.fields["date"].endswith(" GMT")


# MARK: Python


def test_http_client_reuses_a_connection_for_every_framing(endpoint, headers, sandbox, at):
    connection, sockets = endpoint.connection(), set()
    path = at + sandbox.customer("phonebook")
    for content, chunked in ((phone(), False), ([phone()[:1], phone()[1:]], True), (phone(), False)):
        connection.request("POST", path, iter(content) if chunked else content, headers, encode_chunked=chunked)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["name"]) == (201, "Work")
        sockets.add(connection.sock)
    connection.request("HEAD", path, headers=headers)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    assert sockets == {connection.sock}
    connection.close()


def test_requests_uploads_with_length_and_in_chunks(endpoint, sandbox, at):
    with requests.Session() as session:
        for content in (b"x" * MEGABYTE, iter([b"x" * 1000] * 1000), b""):
            assert session.post(f"{endpoint.url}{at}/upload", content, verify=endpoint.verify).status_code == 404
    assert requests_in(sandbox) == [("POST", f"({MEGABYTE} bytes)", 404)] * 2 + [("POST", None, 404)]


def test_aiohttp_waits_for_the_interim_answer(endpoint, headers, phones):
    async def create() -> tuple:
        connector = aiohttp.TCPConnector(ssl=endpoint.trust or True)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            async with session.post(phones, data=phone(), expect100=True) as first:
                async with session.post(phones, data=phone("Home"), expect100=True, chunked=True) as second:
                    return first.status, (await first.json())["name"], second.status, (await second.json())["name"]

    assert asyncio.run(create()) == (201, "Work", 201, "Home")


# MARK: load


def bench(endpoint, count: int, options: list) -> dict:
    """ab's counts for this many requests."""
    command = [program("ab"), "-q", "-n", str(count), "-c", "20", *options, f"{endpoint.url}/_understudy/health"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = dict(line.split(":", 1) for line in printed.splitlines() if ":" in line)
    assert counts["Complete requests"].split() == [str(count)]
    assert counts["Failed requests"].split() == ["0"]
    assert "Non-2xx responses" not in counts
    return counts


@pytest.mark.parametrize("options", [[], ["-k"]], ids=["closed", "kept"])
def test_ab_gets_every_answer_whole(endpoint, options):
    # A separate handshake for each request takes time.
    count = 500 if endpoint.is_secure and not options else 2000
    kept = bench(endpoint, count, options).get("Keep-Alive requests", "0").split()
    assert kept == ([str(count)] if options else ["0"])


@pytest.mark.parametrize("version", ["TLS1.2", "TLS1.3"])
def test_ab_gets_every_answer_whole_by_each_version_of_tls(server, version):
    endpoint = Endpoint("https", server.secure_port, server.authority)
    counts = bench(endpoint, 500, ["-f", version, "-k"])
    assert counts["SSL/TLS Protocol"].strip().startswith(version.replace("TLS", "TLSv"))


PIPELINE = """
init = function(args)
    local requests = {}
    for number = 1, 16 do requests[number] = wrk.format("GET", "/_understudy/health") end
    batch = table.concat(requests)
end
request = function() return batch end
"""


@pytest.mark.parametrize("script", [None, PIPELINE], ids=["one-by-one", "pipelined"])
def test_wrk_gets_every_answer_whole(endpoint, tmp_path, script):
    command = [program("wrk"), "-t", "1", "-c", "20", "-d", "1s", f"{endpoint.url}/_understudy/health"]
    if script:
        (tmp_path / "script.lua").write_text(script)
        command += ["-s", tmp_path / "script.lua"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Socket errors" not in printed and "Non-2xx" not in printed, printed
    assert int(printed.split(" requests in ")[0].split()[-1]) > 100
