"""The inputs of the growth measurements: states and bodies of any size, and queries on them."""

from collections.abc import Callable

PROJECT, SPACE, NOW, LATER = "demo-project-1", "growth", 1_800_000_000, 1_900_000_000
TIME = "2026-01-01T00:00:00Z"


def comapi(**members) -> dict:
    return members


def space(**members) -> dict:
    return {"spaces": [{"id": SPACE, **members}]}


def conversation(**members) -> dict:
    return space(conversations=[{"id": "c", "created": NOW, "creator": "p0", **members}])


def sent(number: int, **members) -> dict:
    return {"id": number + 1, "event": f"e{number}", "actor": "p0", "at": NOW, "message": f"m{number}", "kind": "sent",
            "parts": [], **members}


def session(number: int, profile: str | None = None) -> dict:
    return {"id": f"s{number}", "space": SPACE, "profile": profile or f"p{number}", "started": NOW, "expires": LATER}


def ims(**members) -> dict:
    return {"issuers": [], "users": [], **members}


def user(number: int) -> dict:
    return {"id": f"usr-{number + 1}", "tenant": "demo", "email": f"e{number}@x.test", "enterprise_id": f"x{number}",
            "state": "active", "created_at": NOW}


def issuer(number: int, **members) -> dict:
    return {"name": f"n{number}", "issuer": f"https://growth.example.test/{number}", "tenant": "demo",
            "keys": {"type": "jwks-url", "url": "https://auth.example.test/keys"}, "created_at": NOW, **members}


def trip(number: int, points: int = 0) -> dict:
    return {"trip_id": f"t{number}", "started_at": TIME, "ended_at": TIME, "distance_meters": 1, "received_at": NOW,
            "points": [{"at": TIME, "lat": 1, "lon": 1}] * points, "user": f"usr-{number // 2000 + 1}"}


def invitation(number: int) -> dict:
    return {"kind": "account", "name": "n", "email": "e@x.test", "account_ids": ["a"], "from_user_id": "usr-1",
            "invitation_id": f"inv-{number + 1}", "created_at": NOW}


def bloomreach(customers: list, content: dict | None = None, **members) -> dict:
    return {"projects": [{"token": PROJECT, "customers": customers, **members}], "content": content}


def customer(number: int, **members) -> dict:
    return {"ids": {"registered": f"r{number}"}, **members}


def of(number: int, **members) -> dict:
    return {"project": PROJECT, "customer": {"registered": f"r{number}"}, **members}


def message(number: int) -> dict:
    return {"id": f"m{number}", "type": "push", "create_time": 1, "expire_time": LATER, "content": {"title": "x"},
            "stamp": 1}


def rezolve(customers: list, users: list = ()) -> dict:
    return {"customers": customers, "users": list(users)}


def owner(number: int, **members) -> dict:
    return {"entity": f"e{number}", "partner": "317", "partner_entity_id": f"p{number}", "created": NOW, **members}


def many(make: Callable, count: int) -> list:
    return [make(number) for number in range(count)]


def okta(users: list = (), factors: list = (), **members) -> dict:
    return {"users": list(users), "factors": list(factors), "trusted_origins": [], **members}


def account(number: int, **members) -> dict:
    return {"id": f"00u{number}", "login": f"u{number}@x.test", "created": NOW, **members}


def client(number: int, **members) -> dict:
    return {"id": f"0oa{number}", "application_type": "web", "methods": ["none"], "grants": [], **members}


def phone(number: int) -> dict:
    return {"id": f"sms{number}", "user": f"00u{number}", "type": "sms", "phone": "1"}


def grant(number: int, **members) -> dict:
    authorization = {"client": "c", "server": "default", "user": f"00u{number}", "scopes": ["openid"], **members}
    return {"number": number + 1, "authorization": authorization, "began": NOW}


def consent(number: int, **members) -> dict:
    return {"user": f"00u{number}", "client": "c", "server": "default", "scopes": ["s"], **members}


CARD = {"type": "t", "brand": "b", "pan6": "420000", "pan4": "1111", "short_name": "s", "name_on_card": "n",
        "expires_on": "1030"}

# By vendor and list: the largest size worth measuring, and a generator.
IMPORTS: dict[tuple[str, str], tuple[int, Callable[[int], dict]]] = {
    ("comapi", "challenges"): (10_000, lambda n: comapi(challenges=many(
        lambda i: {"id": f"c{i}", "space": SPACE, "nonce": f"n{i}", "issued": NOW, "expires": LATER}, n))),
    ("comapi", "sessions"): (20_000, lambda n: comapi(sessions=many(session, n))),
    ("comapi", "sessions of one profile"): (20_000, lambda n: comapi(
        sessions=many(lambda i: session(i, "p"), n))),
    ("comapi", "ended_sessions"): (20_000, lambda n: comapi(
        ended_sessions=many(lambda i: {"id": f"s{i}", "space": SPACE}, n))),
    ("comapi", "spaces"): (20_000, lambda n: comapi(spaces=many(lambda i: {"id": f"x{i}"}, n))),
    ("comapi", "spaces[].profiles"): (20_000, lambda n: space(
        profiles=many(lambda i: {"id": f"p{i}", "created": NOW}, n))),
    ("comapi", "spaces[].profiles[].members"): (16_000, lambda n: space(
        profiles=[{"id": "p", "created": NOW, "members": {f"m{i}": i for i in range(n)}}])),
    ("comapi", "spaces[].conversations"): (10_000, lambda n: space(
        conversations=many(lambda i: {"id": f"c{i}", "created": NOW, "creator": "p"}, n))),
    ("comapi", "spaces[].conversations[].participants"): (10_000, lambda n: conversation(
        participants=many(lambda i: {"id": f"p{i}"}, n))),
    ("comapi", "spaces[].conversations[].events"): (10_000, lambda n: conversation(events=many(sent, n))),
    ("comapi", "spaces[].conversations[].events[].parts"): (80_000, lambda n: conversation(
        events=[sent(0, parts=[{"data": "x"}] * n)])),
    ("comapi", "spaces[].conversations[].events[].statuses"): (20_000, lambda n: conversation(
        events=[sent(0, statuses=many(lambda i: {"profile": f"p{i}", "status": "read", "on": NOW}, n))])),
    ("comapi", "spaces[].pushes"): (40_000, lambda n: space(pushes=many(lambda i: {"a": i}, n))),
    ("comapi", "contents"): (40_000, lambda n: comapi(contents=many(
        lambda i: {"id": f"c{i}", "space": SPACE, "name": "n", "type": "t", "data": "aaaa"}, n))),
    ("ims", "issuers"): (1000, lambda n: ims(issuers=many(issuer, n))),
    ("ims", "issuers[].keys.jwks.keys"): (400, lambda n: ims(issuers=[issuer(0, keys={
        "type": "jwks", "jwks": {"keys": [{"kty": "oct", "kid": f"k{i}"} for i in range(n)]}})])),
    ("ims", "users"): (16_000, lambda n: ims(users=many(user, n))),
    ("ims", "trips"): (16_000, lambda n: ims(users=many(user, 8), trips=many(trip, n))),
    ("ims", "trips[].points"): (16_000, lambda n: ims(users=many(user, 1), trips=[trip(0, n)])),
    ("ims", "invitations"): (16_000, lambda n: ims(users=many(user, 1), invitations=many(invitation, n))),
    ("ims", "invitations[].account_ids"): (40_000, lambda n: ims(
        users=many(user, 1), invitations=[{**invitation(0), "account_ids": ["a"] * n}])),
    ("ims", "token_uses"): (20_000, lambda n: ims(token_uses=many(
        lambda i: {"issuer": "i", "jti": f"j{i}", "device": "d", "end": LATER}, n))),
    ("ims", "dev_keys"): (16_000, lambda n: ims(dev_keys=[{"issuer": "rotating", "keys": []}] * n)),
    ("bloomreach", "projects"): (40_000, lambda n: {"projects": [{"token": PROJECT, "customers": []}] * n}),
    ("bloomreach", "projects[].customers"): (20_000, lambda n: bloomreach(many(customer, n))),
    ("bloomreach", "projects[].customers[].ids"): (16_000, lambda n: bloomreach(
        [{"ids": {f"i{i}": "x" for i in range(n)}}])),
    ("bloomreach", "projects[].customers[].cookies"): (16_000, lambda n: bloomreach(
        [{"cookies": [f"c{i}" for i in range(n)]}])),
    ("bloomreach", "projects[].customers[].properties"): (40_000, lambda n: bloomreach(
        [customer(0, properties={f"m{i}": i for i in range(n)})])),
    ("bloomreach", "projects[].customers[].events"): (40_000, lambda n: bloomreach(
        [customer(0, events=many(lambda i: {"type": f"t{i}", "timestamp": NOW, "properties": {"a": i}}, n))])),
    ("bloomreach", "projects[].clicks"): (40_000, lambda n: bloomreach(
        [], clicks=[{"type": "t", "timestamp": NOW, "properties": {}}] * n)),
    ("bloomreach", "projects[].self_checks"): (40_000, lambda n: bloomreach([], self_checks=[{"type": "t"}] * n)),
    ("bloomreach", "content.inboxes"): (10_000, lambda n: bloomreach(
        many(customer, n), {"inboxes": many(lambda i: of(i, epoch=1, counter=1, messages=[]), n)})),
    ("bloomreach", "content.inboxes[].messages"): (40_000, lambda n: bloomreach(
        many(customer, 1), {"inboxes": [of(0, epoch=1, counter=1, messages=many(message, n))]})),
    ("bloomreach", "content.segments"): (10_000, lambda n: bloomreach(
        many(customer, n), {"segments": many(lambda i: of(i, segments={"discovery": [{"id": "1"}]}), n)})),
    ("bloomreach", "content.segments[].segments.discovery"): (40_000, lambda n: bloomreach(
        many(customer, 1), {"segments": [of(0, segments={"discovery": [{"id": "1"}] * n})]})),
    ("bloomreach", "content.consents"): (10_000, lambda n: bloomreach(
        many(customer, n), {"consents": many(lambda i: of(i, consents={"c": True}), n)})),
    ("bloomreach", "content.consents[].consents"): (40_000, lambda n: bloomreach(
        many(customer, 1), {"consents": [of(0, consents={f"c{i}": True for i in range(n)})]})),
    ("rezolve", "customers"): (16_000, lambda n: rezolve(many(owner, n))),
    ("rezolve", "users"): (10_000, lambda n: rezolve(
        many(owner, n), many(lambda i: {"id": i + 1, "customer": f"e{i}", "username": f"u{i}"}, n))),
    ("rezolve", "users[].logged_out_devices"): (16_000, lambda n: rezolve(
        [owner(0)], [{"id": 1, "customer": "e0", "username": "u", "logged_out_devices": [f"d{i}" for i in range(n)]}])),
    ("rezolve", "customers[].phones"): (40_000, lambda n: rezolve(
        [owner(0, phones=many(lambda i: {"id": f"p{i}", "name": "n", "phone": "1"}, n))])),
    ("rezolve", "customers[].addresses"): (16_000, lambda n: rezolve(
        [owner(0, phones=many(lambda i: {"id": f"p{i}", "name": "n", "phone": "1"}, n),
               addresses=many(lambda i: {"id": f"a{i}", "phone_id": f"p{i}"}, n))])),
    ("rezolve", "customers[].cards"): (10_000, lambda n: rezolve(
        [owner(0, addresses=many(lambda i: {"id": f"a{i}"}, n),
               cards=many(lambda i: {**CARD, "id": f"c{i}", "address_id": f"a{i}"}, n))])),
    ("okta", "users"): (16_000, lambda n: okta(many(account, n))),
    ("okta", "users[].groups"): (40_000, lambda n: okta([account(0, groups=many(lambda i: f"g{i}", n))])),
    ("okta", "factors"): (16_000, lambda n: okta(many(account, n), many(phone, n))),
    ("okta", "factors of one user"): (16_000, lambda n: okta(
        [account(0)], many(lambda i: {**phone(i), "user": "00u0"}, n))),
    ("okta", "clients"): (10_000, lambda n: okta(clients=many(client, n))),
    ("okta", "clients[].methods"): (40_000, lambda n: okta(clients=[client(0, methods=["none"] * n)])),
    ("okta", "clients[].redirect_uris"): (40_000, lambda n: okta(
        clients=[client(0, redirect_uris=many(lambda i: f"http://localhost/{i}", n))])),
    ("okta", "clients[].post_logout_redirect_uris"): (40_000, lambda n: okta(
        clients=[client(0, post_logout_redirect_uris=many(lambda i: f"http://localhost/{i}", n))])),
    ("okta", "clients[].grants"): (40_000, lambda n: okta(clients=[client(0, grants=many(lambda i: f"g{i}", n))])),
    ("okta", "clients[].granted_scopes"): (40_000, lambda n: okta(
        clients=[client(0, granted_scopes=many(lambda i: f"s{i}", n))])),
    ("okta", "groups"): (10_000, lambda n: okta(groups=many(lambda i: {"id": f"00g{i}", "name": f"g{i}"}, n))),
    ("okta", "trusted_origins"): (1000, lambda n: okta(trusted_origins=many(
        lambda i: {"origin": f"http://h{i}.test"}, n))),
    ("okta", "keys"): (16_000, lambda n: okta(keys=[{"issuer": "default", "keys": []}] * n)),
    ("okta", "grants"): (16_000, lambda n: okta(many(account, n), grants=many(grant, n))),
    ("okta", "grants of one user"): (16_000, lambda n: okta(
        [account(0)], grants=many(lambda i: grant(i, user="00u0"), n))),
    ("okta", "grants[].authorization.scopes"): (40_000, lambda n: okta(
        [account(0)], grants=[grant(0, scopes=many(lambda i: f"s{i}", n))])),
    ("okta", "grants[].authorization.methods"): (40_000, lambda n: okta(
        [account(0)], grants=[grant(0, methods=many(lambda i: f"m{i}", n))])),
    ("okta", "consents"): (16_000, lambda n: okta(many(account, n), consents=many(consent, n))),
    ("okta", "consents[].scopes"): (40_000, lambda n: okta(
        [account(0)], consents=[consent(0, scopes=many(lambda i: f"s{i}", n))])),
    ("okta", "used_ids"): (16_000, lambda n: okta(used_ids=many(
        lambda i: {"kind": "assertion", "owner": "c", "id": f"i{i}", "until": LATER}, n))),
    ("okta", "revoked_ids"): (16_000, lambda n: okta(revoked_ids=many(
        lambda i: {"kind": "revocation", "owner": "", "id": f"i{i}", "until": LATER}, n))),
    ("okta", "transactions"): (10_000, lambda n: okta(many(account, n), many(phone, n), transactions=many(
        lambda i: {"number": i + 1, "factor": f"sms{i}", "user": f"00u{i}", "created": NOW}, n))),
    ("okta", "clients[].assigned.users"): (40_000, lambda n: okta(
        clients=[client(0, assigned={"users": many(lambda i: f"u{i}", n)})])),
    ("okta", "clients[].assigned.groups"): (40_000, lambda n: okta(
        clients=[client(0, assigned={"groups": many(lambda i: f"g{i}", n)})])),
    ("okta", "server_rules[].claims"): (150, lambda n: okta(server_rules=[
        {"server": "default", "claims": many(lambda i: {"name": f"c{i}", "value": i}, n)}])),
    ("okta", "server_rules[].policies"): (150, lambda n: okta(server_rules=[
        {"server": "default", "policies": many(lambda i: {"name": f"p{i}"}, n)}])),
    ("okta", "server_rules[].policies[].clients"): (500, lambda n: okta(server_rules=[
        {"server": "default", "policies": [{"name": "p", "clients": many(lambda i: f"c{i}", n)}]}])),
    ("okta", "server_rules[].policies[].grants"): (500, lambda n: okta(server_rules=[
        {"server": "default", "policies": [{"name": "p", "grants": ["password"] * n}]}])),
    ("okta", "server_rules[].policies[].scopes"): (500, lambda n: okta(server_rules=[
        {"server": "default", "policies": [{"name": "p", "scopes": many(lambda i: f"s{i}", n)}]}])),
}

# Lists with a limit per sandbox: longer ones are rejected, which must not take long either.
BEYOND = {
    ("comapi", "challenges"): 40_000, ("comapi", "sessions"): 80_000, ("comapi", "sessions of one profile"): 80_000,
    ("comapi", "ended_sessions"): 80_000, ("ims", "issuers"): 20_000, ("ims", "users"): 60_000,
    ("rezolve", "customers"): 60_000,
}

# States with many records of every kind, so that exports contain every list.
POPULATED = {
    "comapi": lambda n: comapi(
        sessions=many(session, n), contents=[], spaces=[{
            "id": SPACE, "profiles": many(lambda i: {"id": f"p{i}", "created": NOW}, n),
            "conversations": [{"id": "c", "created": NOW, "creator": "p0", "events": many(sent, min(n, 10_000)),
                               "participants": many(lambda i: {"id": f"p{i}"}, min(n, 10_000))}]}]),
    "ims": lambda n: ims(users=many(user, n), trips=many(trip, n), invitations=many(invitation, n)),
    "bloomreach": lambda n: bloomreach(
        many(lambda i: customer(i, events=[{"type": "t", "timestamp": NOW, "properties": {"a": i}}]), n),
        {"inboxes": [of(0, epoch=1, counter=1, messages=many(message, min(n, 190)))], "segments": [], "consents": []}),
    "rezolve": lambda n: rezolve(
        many(owner, n), many(lambda i: {"id": i + 1, "customer": f"e{i}", "username": f"u{i}"}, n)),
    "okta": lambda n: okta(
        many(account, n), many(phone, min(n, 10_000)), grants=many(grant, n), consents=many(consent, n),
        groups=many(lambda i: {"id": f"00g{i}", "name": f"n{i}"}, min(n, 10_000)),
        server_rules=[{"server": "default", "claims": [{"name": "a", "value": 1}], "policies": [
            {"name": "p", "clients": ["c"], "grants": ["password"], "scopes": ["s"]}]}], transactions=many(
            lambda i: {"number": i + 1, "factor": f"sms{i}", "user": f"00u{i}", "created": NOW}, min(n, 10_000))),
}

REGISTERED = {"customer": "r0"}
INBOX = {"customer": "r0", "message": "m0"}
TALK = {"space": "growth", "conversation": "c", "profile": "p0"}
SOMEBODY = {"user": "00u1"}
NATIVE = {**SOMEBODY, "client": "0oaunderstudynative1"}
# The input by vendor and action; each acts on the populated state, or is refused after searching it.
ACTIONS: dict[tuple[str, str], dict] = {
    ("rezolve", "register-customer"): {"partner_entity_id": "new"},
    ("rezolve", "remove-customer"): {"entity": "e1"},
    ("rezolve", "log-out"): {"entity": "e2"},
    ("ims", "enroll-user"): {"email": "new@x.test"},
    ("ims", "activate-user"): {"user": "x2"},
    ("ims", "deactivate-user"): {"user": "x3"},
    ("ims", "drill-keys"): {"issuer": "rotating", "drill": "overlap"},
    ("bloomreach", "identify-customer"): {**REGISTERED, "properties": {"a": 1}},
    ("bloomreach", "track-event"): {**REGISTERED, "event_type": "t"},
    ("bloomreach", "delete-customer"): {"customer": "r1"},
    ("bloomreach", "anonymize-customer"): {"customer": "r2"},
    ("bloomreach", "read-customer"): REGISTERED,
    ("bloomreach", "expect-event"): {"event_type": {"like": "*x*"}, "properties": {"a": {"contains": "9"}}},
    ("bloomreach", "add-inbox-message"): {**REGISTERED, "message": {"type": "push", "content": {"title": "x"}}},
    ("bloomreach", "delete-inbox-message"): INBOX,
    ("bloomreach", "expire-inbox-message"): {**INBOX, "message": "m1"},
    ("bloomreach", "read-inbox-message"): {**INBOX, "message": "m2"},
    ("bloomreach", "clear-inbox"): REGISTERED,
    ("bloomreach", "set-segments"): {**REGISTERED, "segments": {"discovery": []}},
    ("bloomreach", "set-consent"): {**REGISTERED, "category": "newsletter", "value": True},
    ("comapi", "end-session"): {"session": "s1"},
    ("comapi", "expire-session"): {"session": "s2"},
    ("comapi", "forget-session"): {"session": "s3"},
    ("comapi", "drop-sockets"): {"session": "s4"},
    ("comapi", "answer-challenge"): {"challenge": "none"},
    ("comapi", "send-message"): TALK,
    ("comapi", "mark-message"): TALK,
    ("okta", "approve-device"): {"user_code": "BCDFGHJK", **SOMEBODY},
    ("okta", "deny-device"): {"user_code": "BCDFGHJK"},
    ("okta", "expire-device"): {"user_code": "BCDFGHJK"},
    ("okta", "trusted-origin"): {"origin": "http://new.test"},
    ("okta", "add-client"): {"redirect_uris": ["http://localhost:5173/"]},
    ("okta", "add-redirect-uri"): {"client": "0oaunderstudyspa0001", "uri": "http://localhost:5173/"},
    ("okta", "add-user"): {"login": "new@x.test"},
    ("okta", "remove-user"): SOMEBODY,
    ("okta", "set-status"): {**SOMEBODY, "status": "DEPROVISIONED"},
    ("okta", "set-password"): {**SOMEBODY, "password": "not-a-secret"},
    ("okta", "set-groups"): {**SOMEBODY, "groups": []},
    ("okta", "end-sessions"): {**SOMEBODY, "tokens": True},
    ("okta", "enroll-factor"): {**SOMEBODY, "type": "sms"},
    ("okta", "remove-factor"): {"factor": "sms2"},
    ("okta", "answer-push"): SOMEBODY,
    ("okta", "factor-code"): SOMEBODY,
    ("okta", "consent"): {**NATIVE, "scopes": ["trips.share"]},
    ("okta", "revoke-consent"): NATIVE,
    ("okta", "add-group"): {"name": "New"},
    ("okta", "assign-client"): {"client": "0oaunderstudyspa0001", "users": ["ada@example.test"]},
    ("okta", "set-policies"): {"policies": [{"name": "All"}]},
    ("okta", "set-claims"): {"claims": [{"name": "nonce", "value": "wrong"}]},
    ("okta", "drill-keys"): {"issuer": "default", "drill": "overlap"},
}


def deep(size: int, around=lambda value: [value]):
    value = ["a" * 16] * (size // 20)
    for _ in range(50):
        value = around(value)
    return value


BODIES: dict[str, Callable[[int], object]] = {
    "long": lambda size: "a" * size,
    "wide": lambda size: {f"m{i}": i for i in range(size // 20)},
    "list": lambda size: [1] * (size // 3),
    "deep": deep, "deep objects": lambda size: deep(size, lambda value: {"a": value}),
}
PATHS = ["$.more", "$.more.*", "$..*", "$..a", "$..[?@ > 5]", "$..[?@.a]", "$..*..*", "$..[?@ == $.more]", "$.more[0:9:2]"]
MATCHERS: dict[str, object] = {
    "is": "x", "not": "x", "contains": "aab", "like": "*a*a?b", "present": False, "over": 1e9, "under": -1}

TEMPLATES: dict[str, object] = {
    "a value": {"all": "{{request.body.more}}"},
    "a value in text": {"all": "<{{request.body.more}}>"},
    "a name": {"{{request.body.more}}": 1},
    "a text": "{{request.body.more}}",
    "many values": [["{{request.body}}"] * 500],
    "a section": "{{#request.body.more}}<{{.}}>{{/request.body.more}}",
    "sections in sections": "{{#request.body.more}}{{#request.body.more}}{{.}}{{/request.body.more}}{{/request.body.more}}",
    "a long section": "{{#request.body.more}}" + "s" * 50_000 + "{{/request.body.more}}",
    "a header": None,
}
