"""The two servers under load, each on a free loopback port and stopped by process id."""

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def first_answer(port: int, path: str, within: float = 10, pause: float = 0.0002) -> None:
    """Polls until the server answers 200."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    end = time.monotonic() + within
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(request)
            if connection.recv(64).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(pause)
    raise RuntimeError(f"nothing answered on port {port} within {within} s")


class Certificate:
    """A P-256 certificate for localhost, for both servers; deleted at the end of its `with` block."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="understudy-certificate-")
        self.certificate, self.key = Path(self.folder.name) / "cert.pem", Path(self.folder.name) / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-keyout", self.key, "-out", self.certificate],
            check=True, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


class Process:
    """A child process, stopped at the end of its `with` block."""

    def __init__(self, command: list[str], port: int, health: str):
        self.port = port
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            first_answer(port, health)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self) -> None:
        self.child.terminate()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    # The port for load over TLS.
    secure_port: int | None = None

    def url(self, path: str) -> str:
        if self.secure_port:
            return f"https://127.0.0.1:{self.secure_port}{path}"
        return f"http://127.0.0.1:{self.port}{path}"


class Understudy(Process):
    HEALTH = "/_understudy/health"

    def __init__(self, binary: Path, certificate: Certificate | None = None, options: tuple[str, ...] = ()):
        port, command = free_port(), list(options)
        if certificate:
            self.secure_port = free_port()
            command += ["--https-port", str(self.secure_port), "--tls-cert", certificate.certificate,
                       "--tls-key", certificate.key]
        super().__init__(self.command(binary, port) + command, port, self.HEALTH)
        self.control = http.client.HTTPConnection("127.0.0.1", port)

    @staticmethod
    def command(binary: Path, port: int) -> list[str]:
        # Repeated registrations must answer 200, or reused tokens would measure refusals.
        return [str(binary), "serve", "--port", str(port), "--log", "off",
                "--switch", "rezolve.duplicate-registration=return-existing"]

    def call(self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None) -> bytes:
        headers = headers or {}
        try:
            self.control.request(method, path, body, headers)
            answer = self.control.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server closes idle connections, as during a long round.
            self.control.close()
            self.control.request(method, path, body, headers)
            answer = self.control.getresponse()
        content = answer.read()
        if answer.status not in (200, 201, 204):
            raise RuntimeError(f"{method} {path}: {answer.status} {content.decode()}")
        return content

    def resident_kilobytes(self) -> int:
        answer = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self.child.pid)], check=True, capture_output=True, text=True)
        return int(answer.stdout)


class Nginx(Process):
    """nginx, which answers every path with `return 200` and this content."""

    def __init__(self, content: str, certificate: Certificate | None = None):
        # Debian installs it outside users' PATH.
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/opt/homebrew/bin:/usr/local/bin")
        if not program:
            raise RuntimeError("nginx is missing; run docker/bootstrap.sh bench")
        self.folder = tempfile.TemporaryDirectory(prefix="understudy-nginx-")
        port = free_port()
        configuration = Path(self.folder.name) / "nginx.conf"
        if certificate:
            self.secure_port = free_port()
        configuration.write_text(self.configuration(port, content, certificate))
        super().__init__([program, "-p", self.folder.name, "-e", "stderr", "-c", str(configuration)], port, "/")

    def configuration(self, port: int, content: str, certificate: Certificate | None) -> str:
        # keepalive_requests: nginx by default closes a connection after 1,000 requests; Understudy does not.
        # return: escape quotes inside the text.
        text = content.replace("\\", "\\\\").replace("'", "\\'")
        paths = "".join(
            f"{name}_temp_path {self.folder.name}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.geteuid() == 0 else ""
        secure = f"""
            listen 127.0.0.1:{self.secure_port} ssl; ssl_protocols TLSv1.2 TLSv1.3;
            ssl_certificate {certificate.certificate}; ssl_certificate_key {certificate.key};
            """ if certificate else ""
        return f"""
            daemon off; worker_processes auto; pid {self.folder.name}/pid; {user}
            events {{ worker_connections 1024; }}
            http {{
                access_log off; keepalive_requests 1000000000; default_type application/json;
                {paths}
                server {{ listen 127.0.0.1:{port}; {secure} location / {{ return 200 '{text}'; }} }}
            }}
            """

    def stop(self) -> None:
        super().stop()
        self.folder.cleanup()
