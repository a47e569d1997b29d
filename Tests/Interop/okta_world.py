"""An org of the emulated Okta, over https, and what its clients need to know about the example accounts."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import requests
from world import ROOT, Sandbox, Server, reserved_port

KEYS = ROOT / "Fixtures/okta/keys"
# Invented, like everything in the example accounts.
API_TOKEN = "00understudy-api-token-not-a-secret"
ADA, CLEO = "ada@example.test", "cleo@example.test"
ADA_ID, CLEO_ID = "00uunderstudyada0001", "00uunderstudycleo001"
ADA_PASSWORD, CLEO_PASSWORD = "not-a-secret-1", "not-a-secret-2"
AUDIENCE = "api://default"


@dataclass(frozen=True)
class Registration:
    """What an app knows about itself."""

    id: str
    redirect: str | None = None
    secret: str | None = None


NATIVE = Registration("0oaunderstudynative1", "com.example.app:/callback")
WEB = Registration("0oaunderstudyweb0001", "http://localhost:3000/callback", "web-secret-not-real-0123456789abcdef")
SERVICE = Registration("0oaunderstudysvc0001", secret="svc-secret-not-real-0123456789abcdef")
BANK = Registration("0oaunderstudybank001", "http://localhost:3000/bank")
TV = Registration("0oaunderstudytv00001")
SPA = Registration("0oaunderstudyspa0001", "http://localhost:3000/spa")
DIRECT = Registration("0oaunderstudydirect1")
API = Registration("0oaunderstudyapi0001", secret="api-secret-not-real-0123456789abcdef")
OPS = Registration("0oaunderstudyops0001")


def pem(name: str) -> str:
    """A test key of the fixtures, such as `ck1`."""
    return (KEYS / f"{name}.pem").read_text()


class OktaServer(Server):
    """A server whose tokens name its https address, as clients that insist on https need it."""

    def __init__(self, folder: Path):
        # Tokens name the port, so it is chosen before the start.
        port = reserved_port()
        self.public_base = f"https://localhost:{port}"
        super().__init__(folder, "--public-base", self.public_base, secure_port=port)


class Org(Sandbox):
    """A sandbox as its clients see it: an org with two authorization servers."""

    def __init__(self, server: OktaServer, name: str):
        super().__init__(server, name)
        self.base = f"{server.public_base}/~{name}"
        self.issuer = f"{self.base}/oauth2/default"

    @cached_property
    def discovery(self) -> dict:
        """The document of the server `default`."""
        return requests.get(f"{self.issuer}/.well-known/openid-configuration").json()

    def endpoint(self, name: str, server: str = "default") -> str:
        """The address of an endpoint such as `token`."""
        return f"{self.base}/oauth2{'' if server == 'org' else f'/{server}'}/v1/{name}"

    @property
    def keys(self) -> dict:
        """The key set that the server `default` publishes now."""
        return requests.get(self.endpoint("keys")).json()

    def follow(self, url: str, **options) -> str:
        """Opens the sign-in address as a browser would; returns the redirect to the app."""
        answer = requests.get(url, allow_redirects=False, **options)
        assert answer.status_code == 302, f"{answer.status_code} {answer.text}; {self.reason}"
        return answer.headers["location"]

    def act(self, action: str, **members):
        return self.control("POST", f"state/okta/{action}", members)

    def set_claims(self, claims: dict, **members):
        """From now on the tokens have these claims; those that are None are left out."""
        return self.act("set-claims", claims=[{"name": name, "value": value, **members} for name, value in claims.items()])

    def drill(self, name: str, server: str = "default"):
        return self.control("POST", f"keys/okta/{server}/{name}")

    def entries(self, **query) -> list[dict]:
        wanted = "&".join(f"{name}={value}" for name, value in query.items())
        return self.control("GET", f"journal?{wanted}")["entries"]

    def last(self, route: str) -> dict:
        return self.entries(route=route, last=1)[-1]

    @property
    def reason(self) -> str:
        """Why the last refused call was refused."""
        refused = self.entries(refused="true", last=1)
        return f"{refused[-1]['failure']}: {refused[-1]['reason']}" if refused else "nothing was refused"


def parameters(redirect: str) -> dict[str, str]:
    """What the app gets by a redirect."""
    parts = urlsplit(redirect)
    return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}
