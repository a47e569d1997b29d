"""What schemathesis must know of a vendor besides its document: credentials, and what exists in the example accounts.

$VENDOR and $SERVER name both. Half of what is made up gets a value that exists, so that calls come further than to the first check.
"""

import base64
import os
import random
import urllib.parse
import zlib

import requests
import schemathesis
from okta_world import ADA, ADA_ID, API_TOKEN, NATIVE, SERVICE, WEB
from schemathesis_hooks import without_nul
from world import ADA as ENTITY
from world import API_KEY, DEVICE, PARTNER

VENDOR, SERVER = os.environ["VENDOR"], os.environ["SERVER"]
# Each call may change what another needs.
CALLS_UNTIL_RESET = 100
BASIC = {"bloomreach": ("demo-private-stream-1", "demo-stream-key-not-real-1"), "okta": (SERVICE.id, SERVICE.secret)}
# By scheme, the kind of token that is minted; on the paths of streams Bloomreach wants another.
MINTED = {
    "rezolve": {"bearer": "login"}, "ims": {"bearer": "user"}, "bloomreach": {"bearer": "customer-token", "stream": "stream-token"},
    "comapi": {"bearer": "session"}, "okta": {"bearer": "access"}}
FIXED = {
    "bloomreach": {"token": "Token pubkey-demo-1"}, "okta": {"SSWS": f"SSWS {API_TOKEN}"}, "comapi": {}, "rezolve": {}, "ims": {}}
FIELDS = {
    "rezolve": {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE},
    "ims": {"x-ims-operator-key": "ims-operator-test-key"}}
# What exists, by the name of a parameter or member.
KNOWN = {
    "rezolve": {"partner": [PARTNER], "entity": [ENTITY], "user": ["user-1001"]},
    "ims": {"name": ["uat"], "id": ["EMP-0001", "EMP-0002"]},
    "bloomreach": {
        "project": ["demo-project-1"], "stream": ["demo-stream-1"], "cookie": ["c0000000-0000-4000-8000-00000000000a"],
        "registered": ["ana@example.test"]},
    "comapi": {
        "space": ["b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"], "conversation": ["trip-42"], "profile": ["mira", "bob"], "id": ["trip-42"]},
    "okta": {
        "server": ["default"], "user": ["me", ADA_ID, ADA], "step": ["activate", "suspend", "change_password", "verify"],
        "client_id": [NATIVE.id, WEB.id], "client_secret": [WEB.secret], "redirect_uri": [NATIVE.redirect, WEB.redirect],
        "response_type": ["code"], "scope": ["openid profile offline_access"], "username": [ADA], "password": ["not-a-secret-1"],
        "grant_type": ["password", "client_credentials", "refresh_token", "authorization_code"]},
}[VENDOR]

calls = 0
credentials: dict[str, str] = {}


def control(path: str, **body) -> dict:
    answer = requests.post(f"{SERVER}/_understudy/{path}", json=body, timeout=20)
    assert answer.ok, answer.text
    return answer.json() if answer.content else {}


def renew() -> None:
    """The state of the fixtures, and new tokens for it."""
    control("reset")
    credentials.update(FIXED[VENDOR])
    if VENDOR in BASIC:
        credentials["basic"] = "Basic " + base64.b64encode(":".join(BASIC[VENDOR]).encode()).decode()
    for scheme, kind in MINTED[VENDOR].items():
        credentials[scheme] = "Bearer " + control(f"tokens/{VENDOR}/{kind}")["token"]


def with_known(value, dice: random.Random):
    if isinstance(value, list):
        return [with_known(each, dice) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: dice.choice(KNOWN[name]) if name in KNOWN and isinstance(each, str) and dice.random() < 0.5 else with_known(each, dice)
        for name, each in value.items()}


@schemathesis.hook
def before_call(context, case, kwargs):
    global calls
    if calls % CALLS_UNTIL_RESET == 0:
        renew()
    calls += 1
    dice = random.Random(zlib.crc32(repr((case.path, case.path_parameters, case.query, case.body)).encode()))
    case.query = with_known(without_nul(case.query), dice)
    # The rest of a path is found without a name; a slash would lead to another route, as an empty text would.
    parameters = {name: str(value).replace("/", "-") or "-" for name, value in without_nul(dict(case.path_parameters or {})).items()}
    case.path_parameters = {
        name: dice.choice(KNOWN[name]) if name in KNOWN and dice.random() < 0.8 else urllib.parse.quote(value, safe="%")
        for name, value in parameters.items()}
    if isinstance(case.body, (dict, list)):
        case.body = with_known(case.body, dice)
    for name, value in FIELDS.get(VENDOR, {}).items():
        case.headers.setdefault(name, value)
    ways = [name for way in case.operation.definition.raw.get("security", []) for name in way if name in credentials]
    if ways and dice.random() < 0.9:
        # The first is the usual one.
        way = ways[0] if dice.random() < 0.7 else dice.choice(ways)
        if way == "bearer" and "stream" in (case.path_parameters or {}):
            way = "stream"
        case.headers["authorization"] = credentials[way]
    kwargs["allow_redirects"] = False


@schemathesis.check
def no_undescribed_server_error(ctx, response, case):
    """Some vendors answer 500 to what a client did wrong, and their documents say so."""
    described = case.operation.definition.raw["responses"]
    assert response.status_code < 500 or str(response.status_code) in described, f"{response.status_code} {response.text[:200]}"
