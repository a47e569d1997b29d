"""An endpoint of the running server, for clients of every kind."""

import http.client
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import wire


@dataclass
class Endpoint:
    """Scheme and port, and the certificate that clients must trust if the endpoint uses TLS."""

    scheme: str
    port: int
    authority: Path | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"

    @property
    def trust(self) -> ssl.SSLContext | None:
        return ssl.create_default_context(cafile=self.authority) if self.is_secure else None

    @property
    def verify(self) -> str | bool:
        """The `verify` argument for each call of requests; the environment would override the session's value."""
        return str(self.authority) if self.is_secure else True

    @property
    def curl_options(self) -> list:
        return ["--cacert", self.authority] if self.is_secure else []

    def connect(self) -> socket.socket:
        connection = wire.connect(self.port)
        return self.trust.wrap_socket(connection, server_hostname="127.0.0.1") if self.is_secure else connection

    def connection(self) -> http.client.HTTPConnection:
        if self.is_secure:
            return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.trust)
        return http.client.HTTPConnection("127.0.0.1", self.port)
