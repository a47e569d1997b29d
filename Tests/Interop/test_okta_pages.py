"""The pages of the emulated Okta in a browser: sign-in, second factor, consent, devices, and scripts of apps."""

import base64
import json
from urllib.parse import parse_qs, urlencode

import jwt
import pyotp
import pytest
import requests
from authlib.common.security import generate_token
from browser import NoBrowser
from devtools import Browser, Tab
from okta_world import ADA, ADA_ID, ADA_PASSWORD, CLEO, CLEO_ID, NATIVE, SPA, TV, WEB, Registration, parameters
from payloads import PAYLOADS
from world import Sandbox, Server

APP = "http://localhost:3000"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.fixture(scope="module")
def browser():
    try:
        # The pages that stand in for apps come from no address, and Chromium would not let them call a loopback one.
        browser = Browser("--disable-features=LocalNetworkAccessChecks")
    except NoBrowser as problem:
        pytest.fail(str(problem), pytrace=False)
    yield browser
    browser.close()


class SignIn:
    """An app that sends its user to the sign-in page; the app's own address answers with a page of the test."""

    def __init__(self, browser: Browser, server: Server, name: str):
        self.browser = browser
        self.sandbox = Sandbox(server, name)
        self.base = f"http://localhost:{server.port}/~{name}"
        self.tabs: list[Tab] = []
        self.sandbox.switch("okta.login-mode", "page")

    def address(self, app: Registration = WEB, scope: str = "openid profile", **asked: str) -> str:
        return f"{self.base}/oauth2/default/v1/authorize?" + urlencode({
            "client_id": app.id, "redirect_uri": app.redirect, "response_type": "code", "scope": scope, "state": "s1",
            "nonce": "n1", "code_challenge": CHALLENGE, "code_challenge_method": "S256", **asked})

    def open(self, url: str, page: str = "<!DOCTYPE html><title>App</title><p>This is the app.") -> Tab:
        tab = self.browser.open("data:text/html,")
        self.tabs.append(tab)
        tab.stand_in(APP, page)
        # Each test starts without the sessions of the others, which share a host.
        tab.send("Network.clearBrowserCookies")
        tab.visit(url)
        return tab

    def redirect(self, tab: Tab, app: Registration = WEB) -> dict[str, str]:
        """What the app gets."""
        tab.again(lambda: tab.run("1") and self.redirects(tab, app), "the browser did not come back to the app")
        return parameters(self.redirects(tab, app)[-1])

    @staticmethod
    def redirects(tab: Tab, app: Registration) -> list[str]:
        return [url for url in tab.requested if url.startswith(app.redirect)]

    def redeem(self, code: str, app: Registration = WEB) -> dict:
        """The claims of both tokens."""
        answer = requests.post(f"{self.base}/oauth2/default/v1/token", data={
            "grant_type": "authorization_code", "client_id": app.id, "code": code, "redirect_uri": app.redirect,
            "code_verifier": VERIFIER, **({"client_secret": app.secret} if app.secret else {})})
        assert answer.ok, answer.text
        return {name: jwt.decode(answer.json()[f"{name}_token"], options={"verify_signature": False})
                for name in ("id", "access")}

    def last(self, route: str) -> dict:
        return self.sandbox.control("GET", f"journal?route={route}&last=1")["entries"][-1]

    def close(self):
        complaints = []
        for tab in self.tabs:
            tab.run("1")
            complaints += tab.complaints
            assert tab.dialogs == []
            tab.close()
        assert complaints == [], "the page, or its Content-Security-Policy, complained"


@pytest.fixture
def sign_in(browser, server, request):
    name = request.node.name.replace("_", "-").split("[")[0].removeprefix("test-")[:40].strip("-")
    sign_in = SignIn(browser, server, f"okta-{name}-{generate_token(6).lower()}")
    yield sign_in
    sign_in.close()


# Signing in


def test_a_click_on_a_user_signs_in(sign_in):
    tab = sign_in.open(sign_in.address())
    tab.see("Sign In", "Web app", "openid profile", "SUSPENDED")
    tab.click("button", "Ada L*")
    tab.see("This is the app.")
    told = sign_in.redirect(tab)
    assert told["state"] == "s1"
    assert sign_in.redeem(told["code"])["id"]["sub"] == ADA_ID


def test_a_password_signs_in_and_a_wrong_one_does_not(sign_in):
    tab = sign_in.open(sign_in.address(login_hint=ADA))
    assert tab.run("document.querySelector('#username').value") == ADA
    tab.type("textbox", "Password", "wrong")
    tab.press("Enter")
    tab.until("document.querySelector('[role=alert]').innerText === 'Unable to sign in'")
    assert sign_in.last("login.submit")["failure"] == "login-wrong"
    assert tab.run("document.querySelector('#username').value") == ADA
    tab.type("textbox", "Password", ADA_PASSWORD)
    tab.click("button", "Sign In")
    assert sign_in.redeem(sign_in.redirect(tab)["code"])["id"]["amr"] == ["pwd"]


def test_a_suspended_user_cannot_sign_in(sign_in):
    tab = sign_in.open(sign_in.address())
    tab.click("button", "Ben S*")
    tab.until("document.querySelector('[role=alert]').dataset.failure === 'login-wrong'")
    assert sign_in.redirects(tab, WEB) == []


def test_a_native_app_is_called_by_its_own_scheme(sign_in):
    tab = sign_in.open(sign_in.address(NATIVE))
    tab.click("button", "Ada L*")
    told = sign_in.redirect(tab, NATIVE)
    assert sign_in.redeem(told["code"], NATIVE)["id"]["sub"] == ADA_ID


def test_a_session_signs_in_without_the_page_until_the_logout(sign_in):
    tab = sign_in.open(sign_in.address())
    tab.click("button", "Cleo P*")
    token = sign_in.redirect(tab)["code"]
    tab.visit(sign_in.address(state="s2"))
    assert sign_in.redirect(tab)["state"] == "s2"
    tab.visit(sign_in.address(prompt="login"))
    tab.see("Sign In")
    claims = requests.post(f"{sign_in.base}/oauth2/default/v1/token", data={
        "grant_type": "authorization_code", "client_id": WEB.id, "client_secret": WEB.secret, "code": token,
        "redirect_uri": WEB.redirect, "code_verifier": VERIFIER}).json()["id_token"]
    tab.visit(f"{sign_in.base}/oauth2/default/v1/logout?id_token_hint={claims}")
    tab.see("Begin in your app")
    tab.visit(sign_in.address(prompt="none", state="s3"))
    assert sign_in.redirect(tab)["error"] == "login_required"


def test_a_guest_signs_in_with_claims_of_the_tester(sign_in):
    tab = sign_in.open(sign_in.address())
    tab.unfold("Change what the tokens say")
    tab.type("textbox", "Subject", "guest-7")
    tab.type("textbox", "Claims of the ID token", "[1]")
    tab.click("button", "Sign In")
    tab.until("document.querySelector('[role=alert]').dataset.failure === 'login-claims-invalid'")
    tab.until("document.querySelector('#subject').checkVisibility()")
    tab.type("textbox", "Claims of the ID token", '{"role": "admin"}')
    tab.type("textbox", "Claims of the access token", '{"tier": 3}')
    tab.click("button", "Sign In")
    claims = sign_in.redeem(sign_in.redirect(tab)["code"])
    assert (claims["id"]["sub"], claims["id"]["role"], claims["access"]["tier"]) == ("guest-7", "admin", 3)


@pytest.mark.parametrize("error", ["access_denied", "temporarily_unavailable"])
def test_the_tester_refuses_in_the_name_of_the_user(sign_in, error):
    tab = sign_in.open(sign_in.address())
    tab.unfold("Refuse the sign-in")
    tab.choose("Error that the app gets", error)
    tab.click("button", "Refuse")
    told = sign_in.redirect(tab)
    assert (told["error"], told["state"]) == (error, "s1")


def test_a_code_of_an_authenticator_app_is_asked_for(sign_in):
    secret = pyotp.random_base32()
    sign_in.sandbox.control("POST", "state/okta/enroll-factor", {
        "user": CLEO, "type": "token:software:totp", "secret": secret})
    tab = sign_in.open(sign_in.address(acr_values="urn:okta:loa:2fa:any"))
    tab.click("button", "Cleo P*")
    tab.see("Verify it’s you")
    code = pyotp.TOTP(secret).now()
    tab.type("textbox", "Code", f"{(int(code) + 500_000) % 1_000_000:06}")
    tab.click("button", "Verify")
    tab.see("Invalid Passcode/Answer")
    tab.type("textbox", "Code", code)
    tab.click("button", "Verify")
    claims = sign_in.redeem(sign_in.redirect(tab)["code"])["id"]
    assert (claims["sub"], claims["amr"], claims["acr"]) == (CLEO_ID, ["mfa", "otp", "pwd"], "urn:okta:loa:2fa:any")


def test_the_page_waits_for_the_answer_to_a_push(sign_in):
    tab = sign_in.open(sign_in.address(acr_values="urn:okta:loa:2fa:any"))
    tab.click("button", "Ada L*")
    tab.choose("Factor", "opfunderstudyada0001")
    tab.click("button", "Send")
    tab.see("A push is on its way.")
    sign_in.sandbox.control("POST", "state/okta/answer-push", {"user": ADA, "result": "APPROVE"})
    # It looks every five seconds by itself.
    tab.see("This is the app.")
    assert sign_in.redeem(sign_in.redirect(tab)["code"])["id"]["amr"] == ["mfa", "pwd", "swk"]


def test_consent_is_asked_for_once(sign_in):
    tab = sign_in.open(sign_in.address(SPA))
    tab.click("button", "Ada L*")
    tab.see("This is the app.")
    shared = {"app": SPA, "scope": "openid trips.share"}
    tab.visit(sign_in.address(**shared, prompt="none"))
    assert sign_in.redirect(tab, SPA)["error"] == "consent_required"
    tab.visit(sign_in.address(**shared))
    tab.see("Browser app would like to access:", "Share your trips with others")
    tab.click("button", "Don't Allow")
    tab.see("This is the app.")
    assert sign_in.redirect(tab, SPA)["error"] == "access_denied"
    tab.visit(sign_in.address(**shared))
    tab.click("button", "Allow Access")
    tab.see("This is the app.")
    tab.visit(sign_in.address(**shared, prompt="none", state="s2"))
    told = sign_in.redirect(tab, SPA)
    assert told["state"] == "s2"
    assert sign_in.redeem(told["code"], SPA)["access"]["scp"] == ["openid", "trips.share"]


@pytest.mark.parametrize("payload", PAYLOADS[:8])
def test_what_an_app_asks_is_shown_as_text(sign_in, payload):
    tab = sign_in.open(sign_in.address(login_hint=payload, acr_values=payload, prompt="login", state=payload))
    tab.see("What the app asked for")
    assert tab.run("document.querySelector('[data-asked=acr_values]').textContent") == payload
    assert tab.run("document.querySelector('#username').value") == payload
    assert tab.run("document.querySelectorAll('script, img, iframe, svg').length") == 0
    tab.click("button", "Ada L*")
    assert sign_in.redirect(tab)["state"] == payload


def test_the_page_asks_for_nothing_but_its_style(sign_in):
    tab = sign_in.open(sign_in.address())
    tab.see("Sign In")
    tab.run("1")
    own = [url.removeprefix(sign_in.base).partition("?")[0] for url in tab.requested if url.startswith("http")]
    assert own == ["/oauth2/default/v1/authorize", "/login/login.htm", "/login/page.css"]


def test_the_page_works_without_scripts(sign_in):
    tab = sign_in.open("data:text/html,")
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    tab.send("Page.navigate", url=sign_in.address())
    tab.click("button", "Ada L*")
    assert sign_in.redeem(sign_in.redirect(tab)["code"])["id"]["sub"] == ADA_ID


def test_the_page_shows_itself_in_no_frame(sign_in):
    tab = sign_in.open(f"{APP}/", f"<!DOCTYPE html><title>App</title><iframe src='{sign_in.address()}'></iframe>")
    tab.again(lambda: tab.run("1") and any("frame-ancestors" in each for each in tab.complaints), "nothing was refused")
    tab.complaints.clear()


def test_a_form_of_a_foreign_page_signs_nobody_in(sign_in):
    tab = sign_in.open(sign_in.address())
    hidden = tab.run("[...document.querySelectorAll('[type=hidden]')].map(({outerHTML}) => outerHTML).join('')")
    button = f"<button name=user value={ADA}>Win</button>"
    tab.stand_in("http://foreign.localhost:3000", f"""<!DOCTYPE html><title>Foreign</title>
        <form method=post action={sign_in.base}/login/login.htm>{hidden}{button}</form>""")
    tab.visit("http://foreign.localhost:3000/")
    tab.click("button", "Win")
    tab.until("document.querySelector('main').dataset.page === 'error'")
    assert sign_in.last("login.submit")["failure"] == "login-forged"
    assert sign_in.redirects(tab, WEB) == []


# Ways back to the app


def test_a_form_posts_the_code_to_the_app(sign_in):
    tab = sign_in.open(sign_in.address(response_mode="form_post"))
    tab.click("button", "Ada L*")
    tab.see("This is the app.")
    posted = {name: values[0] for name, values in parse_qs(tab.posted[WEB.redirect]).items()}
    assert posted["state"] == "s1"
    assert sign_in.redeem(posted["code"])["id"]["sub"] == ADA_ID


def test_a_fragment_holds_the_code(sign_in):
    tab = sign_in.open(sign_in.address(response_mode="fragment"))
    tab.click("button", "Ada L*")
    tab.see("This is the app.")
    code = tab.run("new URLSearchParams(location.hash.slice(1)).get('code')")
    assert sign_in.redeem(code)["id"]["sub"] == ADA_ID


LISTENING = """<!DOCTYPE html><title>App</title><p>This is the app.<script>
    window.told = null;
    addEventListener('message', ({origin, data}) => { window.told = {origin, data}; });
</script>"""


def test_a_hidden_frame_renews_the_session_silently(sign_in):
    tab = sign_in.open(sign_in.address(SPA), LISTENING)
    tab.click("button", "Ada L*")
    tab.see("This is the app.")
    silent = sign_in.address(SPA, response_mode="okta_post_message", prompt="none", state="</script><b>")
    tab.run(f"""document.body.append(Object.assign(
        document.createElement('iframe'), {{src: {json.dumps(silent)}, style: 'display: none'}}))""")
    told = tab.until("window.told")
    assert told["origin"] == sign_in.base.partition("/~")[0]
    assert told["data"]["state"] == "</script><b>"
    assert sign_in.redeem(told["data"]["code"], SPA)["id"]["sub"] == ADA_ID


def test_a_hidden_frame_learns_that_nobody_is_signed_in(sign_in):
    tab = sign_in.open(f"{APP}/", LISTENING)
    silent = sign_in.address(SPA, response_mode="okta_post_message", prompt="none")
    tab.run(f"document.body.append(Object.assign(document.createElement('iframe'), {{src: {json.dumps(silent)}}}))")
    assert tab.until("window.told")["data"]["error"] == "login_required"


def test_a_window_of_its_own_tells_its_opener(sign_in):
    tab = sign_in.open(f"{APP}/", LISTENING)
    sign_in.sandbox.switch("okta.login-mode", "auto")
    popup = sign_in.address(SPA, response_mode="okta_post_message")
    tab.run(f"window.popup = window.open({json.dumps(popup)}, 'sign-in', 'popup'); 1")
    told = tab.until("window.told")
    tab.run("window.popup.close()")
    assert sign_in.redeem(told["data"]["code"], SPA)["id"]["sub"] == ADA_ID


# Scripts of apps


FETCH = """fetch({url}, {options}).then(async answer => ({{
    status: answer.status, nonce: answer.headers.get('dpop-nonce'), body: await answer.text().then(text => text ? JSON.parse(text) : null)}}),
    problem => ({{problem: problem.name}}))"""


def fetched(tab: Tab, url: str, **options) -> dict:
    return tab.run(FETCH.format(url=json.dumps(url), options=json.dumps(options)))


def form(**members: str) -> dict:
    return {"method": "POST", "body": urlencode(members),
            "headers": {"Content-Type": "application/x-www-form-urlencoded"}}


def test_a_script_of_the_app_redeems_the_code_and_asks_userinfo(sign_in):
    tab = sign_in.open(sign_in.address(SPA))
    tab.click("button", "Ada L*")
    code = sign_in.redirect(tab, SPA)["code"]
    tab.see("This is the app.")
    default = f"{sign_in.base}/oauth2/default"
    place = fetched(tab, f"{default}/.well-known/openid-configuration")["body"]
    order = form(grant_type="authorization_code", client_id=SPA.id, code=code, redirect_uri=SPA.redirect,
                 code_verifier=VERIFIER)
    order["headers"]["DPoP"] = "read by nobody, and asked for in advance"
    given = fetched(tab, place["token_endpoint"], **order)
    assert given["status"] == 200, given
    asked = fetched(
        tab, place["userinfo_endpoint"], headers={"Authorization": f"Bearer {given['body']['access_token']}"})
    assert asked["body"]["sub"] == ADA_ID


def test_a_page_lives_through_sign_in_renewal_and_sign_out_by_the_calls_of_its_sdk(sign_in):
    default = f"{sign_in.base}/oauth2/default/v1"
    tab = sign_in.open(f"{APP}/", LISTENING)

    def api(method: str, path: str, **options) -> tuple:
        answer = fetched(tab, f"{sign_in.base}/api/v1/{path}", method=method, credentials="include", **options)
        return answer["status"], answer["body"]

    def framed(**asked: str) -> dict:
        url = sign_in.address(SPA, "openid profile offline_access", response_mode="okta_post_message", prompt="none", **asked)
        tab.run(f"""window.told = null; document.querySelector('iframe')?.remove();
            document.body.append(Object.assign(document.createElement('iframe'), {{src: {json.dumps(url)}}}))""")
        return tab.until("window.told")["data"]

    def redeemed(code: str) -> dict:
        return fetched(tab, f"{default}/token", **form(
            grant_type="authorization_code", client_id=SPA.id, code=code, redirect_uri=SPA.redirect, code_verifier=VERIFIER))["body"]

    sign_in.sandbox.control("POST", "state/okta/add-redirect-uri", {"client": SPA.id, "uri": f"{APP}/", "logout": True})
    assert api("GET", "sessions/me")[0] == 404
    assert framed()["error"] == "login_required"
    order = {"headers": {"Content-Type": "application/json"}, "body": json.dumps({"username": ADA, "password": ADA_PASSWORD})}
    status, signed_in = api("POST", "authn", **order)
    assert (status, signed_in["status"]) == (200, "SUCCESS")
    tokens = redeemed(framed(sessionToken=signed_in["sessionToken"])["code"])
    status, session = api("GET", "sessions/me")
    assert (status, session["status"], session["userId"]) == (200, "ACTIVE", ADA_ID)
    assert api("POST", "sessions/me/lifecycle/refresh")[1]["id"] == session["id"]
    assert api("GET", "users/me")[1]["profile"]["login"] == ADA
    renewed = redeemed(framed()["code"])
    assert renewed["access_token"] != tokens["access_token"]
    refreshed = fetched(tab, f"{default}/token", **form(
        grant_type="refresh_token", client_id=SPA.id, refresh_token=tokens["refresh_token"], scope="openid profile offline_access"))
    assert refreshed["status"] == 200, refreshed
    # The SDK leaves the colon of Basic out.
    order = form(token=refreshed["body"]["access_token"], token_type_hint="access_token")
    order["headers"]["Authorization"] = "Basic " + base64.b64encode(SPA.id.encode()).decode()
    assert fetched(tab, f"{default}/revoke", **order)["status"] == 200
    user = f"{default}/userinfo"
    assert fetched(tab, user, headers={"Authorization": f"Bearer {refreshed['body']['access_token']}"})["status"] == 401
    assert api("DELETE", "sessions/me") == (204, None)
    assert api("GET", "sessions/me")[0] == 404
    assert framed()["error"] == "login_required"
    tab.visit(f"{default}/logout?" + urlencode({"id_token_hint": refreshed["body"]["id_token"], "post_logout_redirect_uri": f"{APP}/"}))
    tab.see("This is the app.")
    assert tab.run("location.origin") == APP


def test_a_script_of_another_origin_reads_keys_and_nothing_else(sign_in):
    tab = sign_in.open("data:text/html,")
    tab.stand_in("http://foreign.localhost:3000")
    tab.visit("http://foreign.localhost:3000/")
    tab.see("This is the app.")
    default = f"{sign_in.base}/oauth2/default"
    assert len(fetched(tab, f"{default}/v1/keys")["body"]["keys"]) == 2
    order = form(grant_type="refresh_token", client_id=SPA.id, refresh_token="x")
    assert fetched(tab, f"{default}/v1/token", **order) == {"problem": "TypeError"}
    assert sign_in.last("token.create")["failure"] == "origin-not-redirect"
    sign_in.sandbox.switch("okta.cors", "any")
    assert fetched(tab, f"{default}/v1/token", **order)["body"]["error"] == "invalid_grant"
    # The browser itself reports what it kept from the script.
    tab.complaints.clear()


# Devices


def begin(sign_in: SignIn, scope: str = "openid offline_access") -> dict:
    return requests.post(f"{sign_in.base}/oauth2/default/v1/device/authorize", data={
        "client_id": TV.id, "scope": scope}).json()


def poll(sign_in: SignIn, device: dict) -> dict:
    return requests.post(f"{sign_in.base}/oauth2/default/v1/token", data={
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": TV.id,
        "device_code": device["device_code"]}).json()


def test_a_person_lets_a_device_in(sign_in):
    device = begin(sign_in)
    tab = sign_in.open(device["verification_uri"])
    tab.see("Activate your device", "Follow the instructions on your device to get an activation code")
    tab.type("textbox", "Activation Code", "AAAAAAAA")
    tab.click("button", "Next")
    tab.see("Invalid code. Try again.")
    code = device["user_code"].lower()
    tab.type("textbox", "Activation Code", f" {code[:4]}-{code[4:]} ")
    tab.press("Enter")
    tab.click("button", "Ada L*")
    tab.see("Device activated", "Follow the instructions on your device for next steps")
    assert "id_token" in poll(sign_in, device)
    tab.visit(device["verification_uri_complete"])
    tab.click("button", "Next")
    tab.see("Invalid code. Try again.")


def test_the_whole_address_of_a_device_brings_its_code(sign_in):
    device = begin(sign_in)
    tab = sign_in.open(device["verification_uri_complete"])
    assert tab.run("document.querySelector('#user_code').value") == device["user_code"]
    tab.click("button", "Next")
    tab.click("button", "Cleo P*")
    tab.see("Device activated")
    claims = jwt.decode(poll(sign_in, device)["id_token"], options={"verify_signature": False})
    assert claims["sub"] == CLEO_ID


def test_a_person_refuses_a_device(sign_in):
    device = begin(sign_in)
    tab = sign_in.open(device["verification_uri_complete"])
    tab.click("button", "Next")
    tab.unfold("Refuse the sign-in")
    tab.click("button", "Refuse")
    tab.see("Device not activated", "Your device cannot be activated because you did not allow access")
    assert poll(sign_in, device)["error"] == "access_denied"
