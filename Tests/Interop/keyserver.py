"""Publishes key sets as providers do, correctly and incorrectly, and counts requests. A separate process.

As a program it takes the file to write its port to, and optionally a certificate chain and a key. Tests control it with
`PUT /steer/PATH` and a JSON object (mode, body, headers); `GET /count/PATH` returns how often a path was requested.
"""

import json
import ssl
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import requests
from certificates import Certified
from child import Child

# Longer than any client may wait.
STALL = 8


class KeyServer(Child):
    """The process, and its control by tests."""

    def __init__(self, folder: Path, identity: Certified | None = None, authority: Path | None = None):
        port_file = folder / "port"
        files = [identity.certificate, identity.key] if identity else []
        super().__init__([sys.executable, __file__, port_file, *files], folder, port_file)
        self.scheme = "https" if identity else "http"
        self.authority = str(authority) if authority else True
        self.port = self.ports["http"]
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"

    def _ask(self, method: str, path: str, **options):
        answer = requests.request(method, self.url + path, verify=self.authority, timeout=10, **options)
        answer.raise_for_status()
        return answer.json()

    def publish(self, path: str, body: object, mode: str = "well", **headers: str) -> str:
        """Publishes a document and returns its URL."""
        self._ask("PUT", f"/steer{path}", json={"mode": mode, "body": body, "headers": headers})
        return self.url + path

    def count(self, path: str) -> int:
        return self._ask("GET", f"/count{path}")["count"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    documents: dict = {}
    counts: Counter = Counter()
    lock = threading.Lock()

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["content-length"]))
        with self.lock:
            self.documents[self.path.removeprefix("/steer")] = json.loads(content)
        self.answer(b"{}")

    def do_GET(self):
        if self.path.startswith("/count/"):
            with self.lock:
                count = self.counts[self.path.removeprefix("/count")]
            return self.answer(json.dumps({"count": count}).encode())
        with self.lock:
            self.counts[self.path] += 1
            document = self.documents.get(self.path)
        if document is None:
            return self.answer(b"{}", 404)
        body = json.dumps(document["body"]).encode()
        getattr(self, document["mode"].replace("-", "_"))(body, document["headers"])

    def answer(self, body: bytes, status: int = 200, headers: dict = {}, length: int | None = None):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def well(self, body, headers):
        self.answer(body, headers=headers)

    def stall(self, body, headers):
        time.sleep(STALL)
        self.answer(body, headers=headers)

    def promise_more(self, body, headers):
        self.close_connection = True
        self.answer(body, headers=headers, length=len(body) + 100)

    def promise_less(self, body, headers):
        self.close_connection = True
        self.answer(body, headers=headers, length=len(body) - 20)

    def redirect(self, body, headers):
        self.answer(b"", 302, headers)

    def fail(self, body, headers):
        self.answer(b"{}", 500)

    def page(self, body, headers):
        self.answer(b"<html>Sign in to continue</html>", headers={"Content-Type": "text/html"})

    def large(self, body, headers):
        self.answer(body + b" " * 300_000, headers=headers)

    def endless(self, body, headers):
        """Chunks without end, for as long as the client reads them."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(1000):
                self.wfile.write(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        except OSError:
            pass

    def log_message(self, *_):
        pass


def main(port_file: str, certificate: str | None = None, key: str | None = None):
    # Enough for all concurrent clients; with the default of five the others would wait for seconds.
    ThreadingHTTPServer.request_queue_size = 256
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    partial = Path(port_file + ".new")
    partial.write_text(f"http {server.server_port}\n")
    partial.rename(port_file)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
