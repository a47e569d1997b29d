"""One server under several names, as in Docker, Testcontainers and with a browser beside a backend: real Host fields."""

from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import jwt
import pytest
import requests
from okta_world import SERVICE, WEB
from world import Sandbox, Server

DISCOVERY = "/oauth2/default/.well-known/openid-configuration"
# RFC 7636, appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
# A service of Compose, a port that Testcontainers has mapped, an emulator's, a name that is allowed.
NAMES = ["understudy:8080", "localhost:49153", "10.0.2.2:8080", "[::1]:8080", "host.docker.internal:8080"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("names"), "--public-base", "from-host", "--allow-host", "host.docker.internal")
    yield server
    assert server.stop() == 0, f"understudy ended with an error:\n{server.log.read_text()}"


class Client:
    """A client that reaches a sandbox by a name; a proxy or a port mapping leads the name here."""

    def __init__(self, server: Server, host: str, sandbox: str):
        self.server, self.host, self.sandbox = server, host, sandbox
        self.base = f"http://{host}/~{sandbox}"

    def send(self, method: str, url: str, headers: dict = {}, **content) -> requests.Response:
        assert url.startswith(f"http://{self.host}/"), f"the client at {self.host} cannot reach {url}"
        path = url.removeprefix(f"http://{self.host}")
        return requests.request(
            method, self.server.url + path, headers={"Host": self.host, **headers}, allow_redirects=False, **content)

    def discover(self) -> dict:
        return self.send("GET", self.base + DISCOVERY).json()

    def verify(self, token: str, audience: str) -> dict:
        """Checks a token as a client does that knows no more than its issuer's address."""
        document = self.discover()
        keys = jwt.PyJWKSet.from_dict(self.send("GET", document["jwks_uri"]).json())
        return jwt.decode(
            token, keys[jwt.get_unverified_header(token)["kid"]], algorithms=["RS256"], audience=audience, issuer=f"{self.base}/oauth2/default")


@pytest.mark.parametrize("host", NAMES)
def test_a_client_finds_everything_at_the_name_that_it_knows(server, host):
    client = Client(server, host, "everything")
    document = client.discover()
    assert document["issuer"] == f"{client.base}/oauth2/default"
    assert {urlsplit(value).netloc for value in document.values() if isinstance(value, str) and "://" in value} == {host}
    answer = client.send(
        "POST", document["token_endpoint"], auth=(SERVICE.id, SERVICE.secret), data={"grant_type": "client_credentials", "scope": "trips.read"})
    assert answer.status_code == 200, answer.text
    assert client.verify(answer.json()["access_token"], "api://default")["iss"] == document["issuer"]


def test_a_name_that_no_control_call_may_have_gets_the_fixed_address(server):
    for path in [DISCOVERY, f"/~fixed{DISCOVERY}"]:
        answer = requests.get(server.url + path, headers={"Host": "mocks.example.test"}).json()
        assert urlsplit(answer["issuer"]).netloc == f"localhost:{server.port}"


def test_a_token_of_one_name_is_good_at_another_in_the_same_sandbox(server):
    app, backend = Client(server, "10.0.2.2:8080", "mixed"), Client(server, "localhost:8080", "mixed")
    minted = app.send("POST", f"{app.base}/_understudy/tokens/okta/access").json()["token"]
    bearer = {"Authorization": f"Bearer {minted}"}
    assert app.verify(minted, "api://default")
    assert backend.send("GET", backend.discover()["userinfo_endpoint"], bearer).status_code == 200
    # A backend that verifies by itself knows one issuer only, and the token names the app's.
    with pytest.raises(jwt.InvalidIssuerError):
        backend.verify(minted, "api://default")
    # So its sandbox gets the app's address for all, and the keys are fetched where the backend reaches them.
    backend.send("PUT", f"{backend.base}/_understudy/settings", json={"public_base": "http://10.0.2.2:8080"})
    document = backend.discover()
    assert document["issuer"] == f"{app.base}/oauth2/default"
    keys = jwt.PyJWKSet.from_dict(backend.send("GET", f"{backend.base}/oauth2/default/v1/keys").json())
    token = app.send("POST", f"{app.base}/_understudy/tokens/okta/access").json()["token"]
    assert jwt.decode(
        token, keys[jwt.get_unverified_header(token)["kid"]], algorithms=["RS256"], audience="api://default", issuer=document["issuer"])


def test_a_browser_signs_in_at_one_name_and_its_backend_redeems_the_code_at_another(server):
    browser, backend = Client(server, "localhost:8080", "beside"), Client(server, "understudy:8080", "beside")
    Sandbox(server, "beside").switch("okta.login-mode", "page")
    query = urlencode({
        "client_id": WEB.id, "redirect_uri": WEB.redirect, "response_type": "code", "scope": "openid profile", "state": "s1", "nonce": "n1",
        "code_challenge": CHALLENGE, "code_challenge_method": "S256"})
    asked = f"{browser.base}/oauth2/default/v1/authorize?{query}"
    page = browser.send("GET", urljoin(asked, browser.send("GET", asked).headers["location"]))
    assert page.status_code == 200, page.headers
    assert "understudy:8080" not in page.text
    Sandbox(server, "beside").switch("okta.login-mode", "auto")
    back = browser.send("GET", asked)
    assert back.status_code == 302, back.text
    cookies = page.headers.get("set-cookie", "") + back.headers.get("set-cookie", "")
    assert cookies and "domain" not in cookies.lower(), "cookies belong to the host that the browser called"
    code = parse_qs(urlsplit(back.headers["location"]).query)["code"][0]
    tokens = backend.send(
        "POST", backend.discover()["token_endpoint"], auth=(WEB.id, WEB.secret),
        data={"grant_type": "authorization_code", "code": code, "redirect_uri": WEB.redirect, "code_verifier": VERIFIER}).json()
    assert backend.verify(tokens["id_token"], WEB.id)["nonce"] == "n1"


def test_links_in_answers_lead_where_the_client_can_go(server):
    client = Client(server, "understudy:8080", "links")
    index = client.send("GET", f"{client.base}/").json()
    assert {urlsplit(index[name]).netloc for name in ("dashboard", "openapi", "journal")} == {"understudy:8080"}
    sample = client.send("GET", f"{client.base}/_understudy/vendors/okta/sample").json()["sample"]
    assert client.send("GET", sample["url"], dict(sample["headers"])).status_code == 200
