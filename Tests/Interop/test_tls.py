"""The emulator's TLS endpoint, as seen by the openssl command and third-party clients."""

import asyncio
import contextlib
import re
import socket
import ssl
import subprocess

import aiohttp
import certificates
import pytest
import requests
import wire
from certificates import AUTHORITY, EC, RSA, certify, joined
from endpoint import Endpoint
from world import BINARY, Server

HEALTH = "/_understudy/health"
REQUEST = f"GET {HEALTH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
VERSIONS = {"-tls1_2": "TLSv1.2", "-tls1_3": "TLSv1.3"}


@pytest.fixture(scope="module")
def secure(server):
    return Endpoint("https", server.secure_port, server.authority)


def s_client(endpoint: Endpoint, *options, request: str = REQUEST) -> subprocess.CompletedProcess:
    """openssl's output for a connection on which it sends a request and reads until the server closes."""
    command = [
        "openssl", "s_client", "-connect", f"127.0.0.1:{endpoint.port}", "-CAfile", endpoint.authority,
        "-verify_return_error", "-ign_eof", *options]
    return subprocess.run(command, input=request, capture_output=True, text=True, timeout=20)


def curl(*options) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["curl", "-sS", "--max-time", "20", *map(str, options)], capture_output=True, text=True)


async def aiohttp_status(url: str, trust: ssl.SSLContext | bool) -> int:
    async with aiohttp.ClientSession() as session:
        async with session.get(url, ssl=trust) as answer:
            return answer.status


# MARK: names


def test_the_certificate_names_the_machine(secure):
    served = ssl.get_server_certificate(("127.0.0.1", secure.port))
    told = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "subjectAltName"], input=served, capture_output=True, text=True, check=True)
    names = [name.strip() for name in told.stdout.splitlines()[1].split(",")]
    assert names[:4] == [
        "DNS:localhost", "DNS:*.localhost", "IP Address:127.0.0.1", "IP Address:0:0:0:0:0:0:0:1"]
    name = socket.gethostname()
    # Others fit into no certificate.
    if re.fullmatch(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*", name):
        assert f"DNS:{name}" in names


# MARK: versions, protocols, sessions


@pytest.mark.parametrize("option, version", VERSIONS.items())
def test_both_versions_are_spoken_and_end_with_a_farewell(secure, option, version):
    spoken = s_client(secure, option)
    assert spoken.returncode == 0, spoken.stderr
    assert re.search(rf"New, {version}, Cipher is \S+", spoken.stdout)
    assert "Verify return code: 0 (ok)" in spoken.stdout
    assert "HTTP/1.1 200 " in spoken.stdout
    # openssl prints this only for close_notify.
    assert spoken.stdout.endswith("closed\n") and "unexpected eof" not in spoken.stderr


@pytest.mark.parametrize("option", ["-tls1", "-tls1_1"])
def test_older_versions_are_refused(secure, option):
    # At higher security levels openssl itself would not offer them.
    refused = s_client(secure, option, "-cipher", "DEFAULT@SECLEVEL=0")
    assert refused.returncode != 0
    assert "alert protocol version" in refused.stderr


@pytest.mark.parametrize("cipher", ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "NULL-SHA256"])
def test_ciphers_without_forward_secrecy_or_authentication_are_refused(secure, cipher):
    refused = s_client(secure, "-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")
    assert refused.returncode != 0
    assert "handshake failure" in refused.stderr


@pytest.mark.parametrize("option", VERSIONS)
@pytest.mark.parametrize("offer, chosen", [
    ("http/1.1", "ALPN protocol: http/1.1"), ("h2,http/1.1", "ALPN protocol: http/1.1"), (None, "No ALPN negotiated"),
])
def test_http_1_1_is_chosen_where_it_is_offered(secure, option, offer, chosen):
    spoken = s_client(secure, option, *(["-alpn", offer] if offer else []))
    assert spoken.returncode == 0
    assert chosen in spoken.stdout


@pytest.mark.parametrize("option", VERSIONS)
def test_a_client_that_speaks_http_2_alone_is_refused(secure, option):
    refused = s_client(secure, option, "-alpn", "h2")
    assert refused.returncode != 0
    assert "no application protocol" in refused.stderr


@pytest.mark.parametrize("option, version", VERSIONS.items())
def test_a_session_is_resumed(secure, tmp_path, option, version):
    first = s_client(secure, option, "-sess_out", tmp_path / "session")
    assert f"New, {version}" in first.stdout
    second = s_client(secure, option, "-sess_in", tmp_path / "session")
    assert f"Reused, {version}" in second.stdout
    assert "HTTP/1.1 200 " in second.stdout


# MARK: the wrong language


def test_http_at_the_secured_port_is_told_so_at_once(secure):
    with wire.connect(secure.port) as connection:
        connection.sendall(REQUEST.encode())
        received = b""
        while part := connection.recv(65536):
            received += part
    assert [answer.status for answer in wire.answers(received)] == [400]
    assert requests.get(f"http://127.0.0.1:{secure.port}{HEALTH}").status_code == 400


def test_tls_at_the_port_in_the_clear_ends_at_once(server):
    assert curl("-k", f"https://127.0.0.1:{server.port}{HEALTH}").returncode == 35
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"https://127.0.0.1:{server.port}{HEALTH}", verify=False)


def first_flight() -> bytes:
    """The first bytes of a client's handshake."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def test_handshakes_that_stall_stop_nobody(secure):
    flight = first_flight()
    with contextlib.ExitStack() as stack:
        for size in (0, 1, 5, 100, len(flight)):
            for _ in range(20):
                stack.enter_context(wire.connect(secure.port)).sendall(flight[:size])
        for _ in range(5):
            assert requests.get(f"{secure.url}{HEALTH}", verify=secure.verify).status_code == 200


# MARK: trust


def test_clients_refuse_an_authority_that_they_do_not_know(secure, tmp_path):
    stranger = certify(tmp_path, "stranger", extensions=AUTHORITY)
    refuse(Endpoint("https", secure.port, stranger.certificate), "local issuer certificate")


def test_clients_refuse_a_name_that_is_not_in_the_certificate(secure):
    way = f"a.test:443:127.0.0.1:{secure.port}"
    refused = curl("--cacert", secure.authority, "--connect-to", way, "https://a.test/")
    assert refused.returncode == 60 and "a.test" in refused.stderr


def refuse(endpoint: Endpoint, words: str) -> None:
    """Checks that every client refuses the certificate for this reason."""
    url = endpoint.url + HEALTH
    refused = curl(*endpoint.curl_options, url)
    assert refused.returncode == 60 and words in refused.stderr
    with pytest.raises(requests.exceptions.SSLError, match=words):
        requests.get(url, verify=endpoint.verify)
    with pytest.raises(aiohttp.ClientConnectorCertificateError, match=words):
        asyncio.run(aiohttp_status(url, endpoint.trust))
    assert words in s_client(endpoint).stderr


def accept(endpoint: Endpoint) -> None:
    """Checks that every client accepts the certificate."""
    url = endpoint.url + HEALTH
    assert curl(*endpoint.curl_options, url).returncode == 0
    assert requests.get(url, verify=endpoint.verify).status_code == 200
    assert asyncio.run(aiohttp_status(url, endpoint.trust)) == 200


@contextlib.contextmanager
def serving(folder, chain, key, authority):
    """The TLS endpoint of a server with a user-supplied certificate."""
    server = Server(folder, "--tls-cert", chain, "--tls-key", key)
    try:
        yield Endpoint("https", server.secure_port, authority)
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize("kind", [RSA, EC], ids=["rsa", "ec"])
def test_a_chain_of_one_s_own_is_served_whole(tmp_path, kind):
    root = certify(tmp_path, "root", kind, AUTHORITY)
    intermediate = certify(tmp_path, "intermediate", kind, AUTHORITY, root)
    leaf = certify(tmp_path, "leaf", kind, issuer=intermediate)
    chain = joined(tmp_path / "chain.pem", leaf.certificate, intermediate.certificate)
    with serving(tmp_path, chain, leaf.key, root.certificate) as endpoint:
        accept(endpoint)
        shown = s_client(endpoint, "-showcerts").stdout
    assert shown.count("-----BEGIN CERTIFICATE-----") >= 2
    assert re.search(r" 0 s:CN ?= ?Understudy test leaf\n", shown)
    assert re.search(r" 1 s:CN ?= ?Understudy test intermediate\n", shown)
    assert "Verify return code: 0 (ok)" in shown
    assert not (tmp_path / "ca").exists(), "no local CA is made for nothing"


def test_clients_refuse_a_certificate_that_has_expired(tmp_path):
    root = certify(tmp_path, "root", extensions=AUTHORITY)
    leaf = certify(tmp_path, "leaf", EC, certificates.SERVER, root, "-days", "-1")
    with serving(tmp_path, leaf.certificate, leaf.key, root.certificate) as endpoint:
        refuse(endpoint, "certificate has expired")


# MARK: wrong files


class Files:
    """The files for a start, and possible faults in them."""

    def __init__(self, folder):
        self.folder = folder
        self.root = certify(folder, "root", extensions=AUTHORITY)
        self.leaf = certify(folder, "leaf", issuer=self.root)
        self.other = certify(folder, "other", issuer=self.root)
        self.short = certify(folder, "short", ["-newkey", "rsa:1024"])
        self.old = certify(folder, "old", EC, certificates.SERVER, self.root, "-sha1")
        self.missing, self.empty, self.torn = (folder / name for name in ("missing", "empty", "torn"))
        self.empty.touch()
        self.torn.write_bytes(self.leaf.certificate.read_bytes()[:300])
        self.locked = folder / "locked.key"
        certificates.openssl("pkey", "-in", self.leaf.key, "-aes256", "-passout", "pass:invented", "-out", self.locked)

    def joined(self, *parts):
        return joined(self.folder / "chain.pem", *parts)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("files"))


WRONG = {
    "no certificate file": (lambda at: (at.missing, at.leaf.key), "missing cannot be read"),
    "no key file": (lambda at: (at.leaf.certificate, at.missing), "missing cannot be read"),
    "empty certificate": (lambda at: (at.empty, at.leaf.key), "there is no certificate in it"),
    "empty key": (lambda at: (at.leaf.certificate, at.empty), "there is no private key in it"),
    "key as certificate": (lambda at: (at.leaf.key, at.leaf.key), "there is no certificate in it"),
    "certificate as key": (lambda at: (at.leaf.certificate, at.leaf.certificate), "there is no private key in it"),
    "torn certificate": (lambda at: (at.torn, at.leaf.key), "PEM block 1 of the certificate file is unreadable"),
    "key of another": (lambda at: (at.leaf.certificate, at.other.key), "does not belong to the certificate"),
    "locked key": (lambda at: (at.leaf.certificate, at.locked), "has a passphrase"),
    "root first": (
        lambda at: (at.joined(at.root.certificate, at.leaf.certificate), at.leaf.key),
        "belongs to certificate 2 of the chain"),
    "issuer of another": (
        lambda at: (at.joined(at.leaf.certificate, at.other.certificate), at.leaf.key),
        "certificate 1 is not issued by certificate 2"),
    "short key": (lambda at: (at.short.certificate, at.short.key), "has 1024 bits, which is too weak"),
    "weak signature": (lambda at: (at.old.certificate, at.old.key), "signed with a hash that is too weak"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_end_the_start_with_their_reason(files, case):
    make, reason = WRONG[case]
    certificate, key = make(files)
    ended = start(files, "--https-port", "0", "--tls-cert", certificate, "--tls-key", key)
    assert ended.returncode == 2
    assert ended.stderr.startswith("understudy: ") and len(ended.stderr.splitlines()) == 1
    assert reason in ended.stderr
    assert str(files.folder) in ended.stderr, "it names the file"


@pytest.mark.parametrize("options, reason", [
    (["--https-port", "0", "--tls-cert", "leaf.pem"], "has no key"),
    (["--https-port", "0", "--tls-key", "leaf.key"], "has no certificate"),
    (["--tls-cert", "leaf.pem", "--tls-key", "leaf.key"], "needs a port"),
    (["--https-port", "65536"], "a port (0–65535)"),
])
def test_options_that_do_not_go_together_end_the_start(files, options, reason):
    ended = start(files, *options)
    assert (ended.returncode, reason in ended.stderr) == (2, True), ended.stderr


def start(files, *options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BINARY, "serve", "--port", "0", *options], cwd=files.folder, capture_output=True, text=True, timeout=20)
