"""Comapi as two users experience it: PyJWT answers the challenges, and the library `websockets` listens."""

import base64
import contextlib
import dataclasses
import hashlib
import hmac
import json
import threading
import uuid

import jwt
import pytest
import requests
from messaging import A, B, C, ECHO, FORBIDDEN, NEW_YEAR, TRIP, UNAUTHORIZED, App
from socket_client import SocketClient
from websockets.exceptions import InvalidStatus

INVALID_JWT = {"message": "Invalid JWT"}
# The spec's example secrets are shorter than PyJWT recommends.
pytestmark = pytest.mark.filterwarnings("ignore:The HMAC key is")
MIDNIGHT = "2027-01-01T00:00:00.000Z"
PATH = f"/conversations/{TRIP}"


@pytest.fixture
def frozen(sandbox):
    sandbox.set_clock(now=NEW_YEAR, freeze=True)
    return sandbox


@pytest.fixture
def mira(frozen):
    return App(frozen, "mira").start(deviceId="iPhone", platform="iOS")


@pytest.fixture
def bob(frozen):
    return App(frozen, "bob").start()


@pytest.fixture
def eve(frozen):
    """Another user of the same space."""
    return App(frozen, "eve").start()


@pytest.fixture
def trip(mira, bob):
    return mira.expect(201, "POST", "/conversations", {"id": TRIP, "name": "Trip", "participants": [{"id": "bob"}]})


@pytest.fixture
def ears():
    """Opens sockets and closes them at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda *apps: [stack.enter_context(app.listen()) for app in apps]


def fault(name: str, message: str) -> dict:
    return {"validationFailures": [{"paramName": name, "message": message}]}


# The challenge


def test_a_challenge_is_answered_and_gives_a_session(frozen):
    app = App(frozen, "mira")
    challenge, another = app.challenge(), app.challenge()
    assert challenge.keys() == {"authenticationId", "provider", "nonce", "expiresOn"}
    assert (challenge["provider"], challenge["expiresOn"]) == ("jsonWebToken", "2027-01-01T00:15:00.000Z")
    assert len({challenge["authenticationId"], challenge["nonce"], another["authenticationId"], another["nonce"]}) == 4
    device = {
        "deviceId": str(uuid.uuid4()), "platform": "javascript", "platformVersion": "Mozilla/5.0", "sdkType": "native",
        "sdkVersion": "1.0.2"}
    answer = app.answer(challenge, A.sign(challenge["nonce"], "mira"), **device)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert answer.headers["Cache-Control"] == "no-store"
    session = answer.json()["session"]
    uuid.UUID(session.pop("id"))
    assert session == {
        "profileId": "mira", **device, "sourceIp": "127.0.0.1", "isActive": True, "state": "SessionStarted",
        "provider": "jsonWebToken", "nonce": challenge["nonce"], "createdOn": MIDNIGHT, "startedOn": MIDNIGHT,
        "expiresOn": "2027-01-01T01:00:00.000Z"}


@pytest.mark.parametrize(("space", "user"), [
    (A, "mira"), (B, "~~~???>>> ü"), (C, "user with spaces"), (C, "日本/é%2F👍"),
], ids=["plain", "atob", "spaces", "beyond-ascii"])
def test_the_token_of_a_session_verifies_elsewhere_and_can_be_read_by_atob(frozen, space, user):
    app = App(frozen, user, space).start()
    name = frozen.url.rpartition("~")[2]
    key = hmac.digest(space.session_secret.encode(), f"{name}\n{space.id}".encode(), hashlib.sha256)
    claims = jwt.decode(
        app.token, key, algorithms=["HS256"], audience=space.audience, issuer=space.issuer,
        options={"verify_exp": False, "verify_iat": False})
    assert (claims["apiSpaceId"], claims["sub"], claims["jti"]) == (space.id, user, app.session["id"])
    assert (claims["iat"], claims["exp"]) == (NEW_YEAR, NEW_YEAR + 3600)
    payload = app.token.split(".")[1]
    assert not set(payload) & set("-_"), "atob throws on them"
    assert json.loads(base64.b64decode(payload + "=" * (-len(payload) % 4))) == claims
    assert app.expect(200, "GET", f"/sessions/{app.session['id']}") == {"token": app.token, "session": app.session}


REFUSED_ANSWERS = {
    "bad-signature": {"secret": "another-secret-that-is-long-enough!!"},
    "secret-base64-text": {"secret": base64.b64encode(A.secret.encode()).decode()},
    "secret-trimmed": {"secret": A.secret + "\n"},
    "secret-of-another-space": {"secret": C.secret},
    "wrong-algorithm": {"algorithm": "HS512"},
    "missing-nonce": {"nonce": None}, "nonce-mismatch": {"nonce": "another"},
    "missing-issuer": {"iss": None}, "wrong-issuer": {"iss": A.issuer + "/"},
    "missing-audience": {"aud": None}, "wrong-audience": {"aud": A.audience + "/"},
    "missing-user-id": {"sub": None}, "expired-token": {"exp": NEW_YEAR - 60},
    "not-yet-valid": {"nbf": NEW_YEAR + 61},
}


@pytest.mark.parametrize("failure", REFUSED_ANSWERS)
def test_an_answer_with_a_fault_is_refused_and_only_the_journal_says_why(frozen, failure):
    app, change = App(frozen, "mira"), dict(REFUSED_ANSWERS[failure])
    challenge = app.challenge()
    nonce = change.pop("nonce", challenge["nonce"])
    body = {"authenticationId": challenge["authenticationId"], "authenticationToken": A.sign(nonce, "mira", **change)}
    app.refuse(403, INVALID_JWT, failure, "POST", "/sessions", body)
    # The challenge can still be answered.
    assert app.answer(challenge, A.sign(challenge["nonce"], "mira")).status_code == 200


def test_a_secret_that_was_read_as_hexadecimal_shows(frozen):
    app = App(frozen, "mira", B)
    challenge = app.challenge()
    claims = jwt.decode(B.sign(challenge["nonce"], "mira"), options={"verify_signature": False})
    token = jwt.encode(claims, bytes.fromhex(B.secret), algorithm="HS256")
    body = {"authenticationId": challenge["authenticationId"], "authenticationToken": token}
    app.refuse(403, INVALID_JWT, "secret-hex-decoded", "POST", "/sessions", body)
    assert "pass `{utf8: secret}`" in frozen.last_entry()["reason"]


def test_an_unsigned_answer_one_given_twice_and_one_that_is_late_are_refused(frozen):
    app = App(frozen, "mira")
    challenge = app.challenge()
    claims = jwt.decode(A.sign(challenge["nonce"], "mira"), options={"verify_signature": False})
    body = {"authenticationId": challenge["authenticationId"], "authenticationToken": jwt.encode(claims, None, "none")}
    app.refuse(403, INVALID_JWT, "wrong-algorithm", "POST", "/sessions", body)
    body["authenticationToken"] = A.sign(challenge["nonce"], "mira")
    app.expect(200, "POST", "/sessions", body)
    app.refuse(403, INVALID_JWT, "nonce-reused", "POST", "/sessions", body)
    late = app.challenge()
    frozen.set_clock(advance="901s")
    body = {"authenticationId": late["authenticationId"], "authenticationToken": A.sign(late["nonce"], "mira")}
    app.refuse(403, INVALID_JWT, "nonce-expired", "POST", "/sessions", body)
    app.refuse(
        400, fault("authenticationToken", "is required"), "missing-field", "POST", "/sessions", {"authenticationId": "x"})
    nowhere = App(frozen, "mira", dataclasses.replace(A, id="none"))
    nowhere.refuse(404, {"message": "Not Found"}, "unknown-space", "GET", "/sessions/start")


def test_the_current_page_s_profile_wants_seconds_and_both_times(frozen):
    app = App(frozen, "mira")
    challenge = app.challenge()
    milliseconds = A.sign(challenge["nonce"], "mira", iat=NEW_YEAR * 1000, exp=(NEW_YEAR + 60) * 1000)
    body = {"authenticationId": challenge["authenticationId"], "authenticationToken": milliseconds}
    frozen.control("PUT", "settings", {"profile": "observed"})
    app.refuse(403, INVALID_JWT, "milliseconds-exp", "POST", "/sessions", body)
    bare = {**body, "authenticationToken": A.sign(challenge["nonce"], "mira", exp=None)}
    app.refuse(403, INVALID_JWT, "missing-exp", "POST", "/sessions", bare)
    frozen.control("PUT", "settings", {"profile": "documented"})
    app.expect(200, "POST", "/sessions", body)
    noted = {finding["check"] for finding in frozen.last_entry()["findings"] if finding["outcome"] == "noted"}
    assert {"milliseconds-exp", "milliseconds-iat"} <= noted


# Sessions


def refused_tokens(mira: App) -> dict[str, str | None]:
    """Session tokens with one fault each."""
    claims = jwt.decode(mira.token, options={"verify_signature": False})
    return {
        "session-missing": "", "session-malformed": "broken.not-three-parts",
        "session-other-space": App(mira.sandbox, "mira", C).start().token,
        "session-forged": jwt.encode(claims, A.secret, algorithm="HS256"),
    }


@pytest.mark.parametrize("failure", ["session-missing", "session-malformed", "session-other-space", "session-forged"])
def test_a_token_that_opens_nothing_is_refused_by_calls_and_by_the_socket(mira, failure):
    token = refused_tokens(mira)[failure]
    headers = {"Authorization": f"Bearer {token}"} if token else {"Authorization": "Basic x"}
    refused = mira.refuse(401, UNAUTHORIZED, failure, "GET", "/profiles/mira", headers=headers)
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    for query, options in [(f"?token={token}", {}), ("", {"additional_headers": headers})]:
        with pytest.raises(InvalidStatus) as refusal:
            SocketClient(mira.socket_address(query), **options)
        assert refusal.value.response.status_code == 401
        assert json.loads(refusal.value.response.body) == UNAUTHORIZED
        assert refusal.value.response.headers["Access-Control-Allow-Origin"] == "*"
        entry = mira.sandbox.last_entry()
        assert entry["failure"] == failure
        signature = token.rpartition(".")[2]
        assert not signature or signature not in json.dumps(entry)


def test_a_session_that_ends_closes_its_sockets_and_no_others(mira, bob, ears):
    second = App(mira.sandbox, "mira").start()
    own, also_own, of_second, of_bob = ears(mira, mira, second, bob)
    assert mira.expect(204, "DELETE", f"/sessions/{mira.session['id']}").content == b""
    assert (own.end(), also_own.end()) == (1000, 1000)
    assert of_second.hear_all() == of_bob.hear_all() == []
    mira.refuse(401, UNAUTHORIZED, "session-ended", "GET", "/profiles/mira")
    second.refuse(404, {"message": "Not Found"}, "unknown-session", "GET", f"/sessions/{mira.session['id']}")
    second.refuse(403, FORBIDDEN, "foreign-session", "GET", f"/sessions/{bob.session['id']}")


def test_a_session_that_expires_closes_its_sockets_when_the_clock_says_so(mira, ears):
    [ear] = ears(mira)
    mira.sandbox.set_clock(advance="3599s")
    assert ear.hear_all() == []
    mira.sandbox.set_clock(advance="1s")
    assert ear.end() == 1008
    mira.refuse(401, UNAUTHORIZED, "session-expired", "GET", "/profiles/mira")


def test_a_reset_forgets_sessions(mira):
    mira.sandbox.control("POST", "reset")
    mira.sandbox.set_clock(now=NEW_YEAR, freeze=True)
    mira.refuse(401, UNAUTHORIZED, "session-unknown", "GET", "/profiles/mira")


# Sockets


@pytest.mark.parametrize("by_query", [True, False], ids=["query", "header"])
def test_a_socket_opens_by_query_and_by_header_and_greets(mira, by_query):
    with mira.listen(by_query) as ear:
        greeting = ear.greeting
        assert [uuid.UUID(greeting.pop(name)).version for name in ("eventId", "socketId")] == [4, 4]
        assert greeting == {
            "name": "socket.info", "accountId": A.account, "apiSpaceId": A.id, "context": {"createdBy": "mira"},
            "publishedOn": MIDNIGHT}
        assert mira.token.rpartition(".")[2] not in json.dumps(mira.sandbox.control("GET", "journal"))


def test_a_socket_sends_echoes_back_answers_pings_and_ignores_other_text(mira, ears):
    [ear] = ears(mira)
    text = '{"publishedOn" : "now",  "name":"echo", "payload":{"é":[1.0]}}'
    ear.send(text)
    assert ear.receive() == text
    assert ear.ping(b"are you there?") < 10
    for other in ["no JSON", '{"name":"other"}', "[]"]:
        ear.send(other)
    assert ear.hear_all() == []
    mira.sandbox.switch("comapi.echoes-frames", "off")
    ear.send(json.dumps(ECHO))
    mira.expect(200, "PATCH", "/profiles/mira", {"firstName": "Mira"})
    assert ear.hear()["name"] == "profile.update"


@pytest.mark.parametrize(("message", "code"), [(b"\x01", 1003), ("x" * 65537, 1009)], ids=["binary", "too-long"])
def test_a_frame_that_no_client_sends_closes_the_socket(mira, ears, message, code):
    [ear] = ears(mira)
    ear.send(message)
    assert ear.end() == code


def test_a_socket_that_a_client_closes_hears_its_code_again(mira):
    with mira.listen() as ear:
        ear.close(4001, "enough")
        assert ear.socket.protocol.close_rcvd.code == 4001


# One conversation


def frame_of(name: str, actor: str, payload: dict, conversation: bool = True, **members) -> dict:
    """A frame without its eventId."""
    return {
        "apiSpaceId": A.id, "accountId": A.account, "name": name,
        "context": {"createdBy": f"session:{actor}", "createdOn": MIDNIGHT}, "publishedOn": MIDNIGHT,
        **({"conversationId": TRIP} if conversation else {}), **members, "payload": payload}


def participant_frame(change: str, actor: str, profile: str, **members) -> dict:
    payload = {"profileId": profile, **members, "conversationId": TRIP, "apiSpaceId": A.id}
    return frame_of(f"conversation.participant{change}", actor, payload)


def heard(ear) -> list[dict]:
    """The frames received, without the eventIds, which are random UUIDs."""
    frames = ear.hear_all()
    for frame in frames:
        uuid.UUID(frame.pop("eventId"))
    return frames


RIGHTS = dict.fromkeys(["canSend", "canAddParticipants", "canRemoveParticipants"], True)
ROLES = {"owner": RIGHTS, "participant": {**RIGHTS, "canAddParticipants": False}}


def test_everything_that_happens_to_a_conversation_is_told_to_those_in_it_in_order(mira, bob, eve, ears):
    phone = App(mira.sandbox, "mira").start()
    of_mira, of_phone, of_bob, of_eve = all_ears = ears(mira, phone, bob, eve)

    def expect(told: list[dict], *listeners) -> None:
        for ear in all_ears:
            assert heard(ear) == (told if ear in listeners else [])

    body = {"id": TRIP, "name": "Trip", "roles": {"participant": {"canAddParticipants": False}}, "participants": [{"id": "bob"}]}
    created = mira.call("POST", "/conversations", body)
    assert (created.status_code, created.json()["participantCount"]) == (201, 2)
    core = {"id": TRIP, "name": "Trip", "roles": ROLES, "isPublic": False}
    place = {"conversationId": TRIP, "apiSpaceId": A.id}
    people = [{"id": "mira", "role": "owner", **place}, {"id": "bob", "role": "participant", **place}]
    expect([
        frame_of("conversation.create", "mira", {**core, "participants": people}, etag=created.headers["ETag"], revision=1),
        participant_frame("Added", "mira", "mira", role="owner"),
        participant_frame("Added", "mira", "bob", role="participant"),
    ], of_mira, of_phone, of_bob)

    headers = {"If-Match": created.headers["ETag"]}
    updated = mira.call("PUT", PATH, {"description": "Who brings what"}, headers=headers)
    assert updated.status_code == 200 and updated.headers["ETag"] != created.headers["ETag"]
    core["description"] = "Who brings what"
    expect(
        [frame_of("conversation.update", "mira", core, etag=updated.headers["ETag"], revision=2)], of_mira, of_phone, of_bob)
    mira.refuse(412, {"message": "Precondition Failed"}, "etag-mismatch", "PUT", PATH, {"name": "x"}, headers=headers)
    expect([])

    mira.expect(201, "POST", f"{PATH}/participants", [{"id": "eve"}, {"id": "bob"}])
    expect([participant_frame("Added", "mira", "eve", role="participant")], *all_ears)
    mira.expect(201, "POST", f"{PATH}/participants", [{"id": "eve", "role": "owner"}])
    expect([participant_frame("Updated", "mira", "eve", role="owner")], *all_ears)

    typing = {"conversationId": TRIP, "profileId": "bob"}
    bob.expect(204, "POST", f"{PATH}/typing", {})
    expect([frame_of("conversation.participantTyping", "bob", typing)], of_mira, of_phone, of_eve)
    bob.expect(204, "DELETE", f"{PATH}/typing")
    expect([frame_of("conversation.participantTypingOff", "bob", typing)], of_mira, of_phone, of_eve)

    # As sent by the iOS SDK.
    mira.expect(204, "DELETE", f"{PATH}/participants", ["eve"])
    expect([participant_frame("Removed", "mira", "eve")], *all_ears)
    eve.refuse(403, FORBIDDEN, "not-a-participant", "GET", f"{PATH}/messages")
    bob.refuse(403, FORBIDDEN, "role-forbids", "POST", f"{PATH}/participants", [{"id": "eve"}])
    bob.refuse(403, FORBIDDEN, "owner-only", "DELETE", PATH)
    expect([])

    assert mira.expect(204, "DELETE", PATH).content == b""
    etag = updated.headers["ETag"]
    expect(
        [frame_of("conversation.delete", "mira", {"date": MIDNIGHT}, etag=etag, revision=2)], of_mira, of_phone, of_bob)
    bob.refuse(404, {"message": "Not Found"}, "unknown-conversation", "GET", PATH)
    revived = bob.call("POST", "/conversations", {"id": TRIP, "participants": [{"id": "mira", "role": "member"}]})
    core = {"id": TRIP, "roles": {"owner": RIGHTS, "participant": RIGHTS}, "isPublic": False}
    expect([
        frame_of("conversation.undelete", "bob", core, etag=revived.headers["ETag"], revision=3),
        participant_frame("Added", "bob", "bob", role="owner"),
        participant_frame("Added", "bob", "mira", role="participant"),
    ], of_mira, of_phone, of_bob)


def test_a_message_and_its_status_are_told_logged_and_paged(mira, bob, eve, trip, ears):
    of_mira, of_bob, of_eve = ears(mira, bob, eve)
    sent = mira.post("Hi", alert={"title": "T"})
    assert sent["eventId"] == 1
    part = {"name": "body", "type": "text/plain", "data": "Hi", "size": 2}
    context = {"from": {"id": "mira", "name": "mira"}, "conversationId": TRIP, "sentBy": "mira", "sentOn": MIDNIGHT}
    message = {"metadata": {"k": "v"}, "context": context, "parts": [part]}
    bob.mark("delivered", sent["id"])
    bob.mark("read", sent["id"], "unknown")
    bob.mark("delivered", sent["id"])
    mira.mark("read", sent["id"])
    status = {
        "messageId": sent["id"], "conversationId": TRIP, "isPublicConversation": False, "profileId": "bob",
        "timestamp": "2027-01-01T00:00:09.000Z"}
    told = [
        frame_of(
            "conversationMessage.sent", "mira", {"messageId": sent["id"], **message, "alert": {"title": "T"}},
            conversationEventId=1),
        frame_of("conversationMessage.delivered", "bob", status, conversationEventId=2, revision=2),
        frame_of("conversationMessage.read", "bob", status, conversationEventId=3, revision=3),
    ]
    assert (heard(of_mira), heard(of_bob), heard(of_eve)) == (told, told, [])

    logged = bob.expect(200, "GET", f"{PATH}/events?from=0&limit=100")
    for frame in logged:
        frame.pop("eventId")
    assert logged == told
    read = {"status": "read", "on": "2027-01-01T00:00:09.000Z", "timestamp": "2027-01-01T00:00:09.000Z"}
    assert mira.expect(200, "GET", f"{PATH}/messages?limit=10") == {
        "latestEventId": 3, "earliestEventId": 0, "orphanedEvents": [],
        "messages": [{"id": sent["id"], "sentEventId": 1, **message, "statusUpdates": {"bob": read}}]}
    eve.refuse(403, FORBIDDEN, "not-a-participant", "POST", f"{PATH}/messages", {"parts": [part]})
    mira.refuse(400, fault("parts", "is required"), "missing-field", "POST", f"{PATH}/messages", {"parts": []})
    mira.refuse(400, fault("limit", "is not valid"), "invalid-parameter", "GET", f"{PATH}/messages?limit=0")
    assert heard(of_bob) == []


def test_pages_of_messages_follow_each_other_without_a_gap_as_the_sdks_ask_for_them(mira, bob, trip):
    ids = []
    for number in range(5):
        ids.append(mira.post(f"message {number}")["id"])
        bob.mark("read", ids[number // 2])
    found, orphans, query = [], [], ""
    while True:
        page = bob.expect(200, "GET", f"{PATH}/messages?limit=2{query}")
        found += page["messages"]
        orphans += page["orphanedEvents"]
        if page["earliestEventId"] == 0:
            break
        query = f"&from={page['earliestEventId'] - 1}"
    assert [message["id"] for message in found] == ids[::-1]
    numbers = [message["sentEventId"] for message in found] + [event["id"] for event in orphans]
    read = {message["id"] for message in found if "bob" in message["statusUpdates"]}
    assert read == {ids[0], ids[1], ids[2]}
    assert len(numbers) == len(set(numbers)) and set(numbers) <= set(range(1, 9))
    assert all(event["data"]["name"] == "read" and event["data"]["profileId"] == "bob" for event in orphans)


def test_frames_of_one_conversation_come_in_the_order_of_its_log_whoever_sends_at_once(mira, bob, trip, ears):
    listeners = ears(mira, bob, bob)
    senders = [threading.Thread(target=lambda app=app: [app.post(str(n)) for n in range(30)]) for app in (mira, bob, mira)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    log = mira.expect(200, "GET", f"{PATH}/events?limit=1000")
    assert [event["conversationEventId"] for event in log] == list(range(1, 91))
    for ear in listeners:
        assert ear.hear_all() == log


# Profiles, content, pushes


def test_a_profile_is_changed_with_its_tag_and_told_to_its_own_sessions_alone(mira, bob, ears):
    phone = App(mira.sandbox, "mira").start()
    of_mira, of_phone, of_bob = ears(mira, phone, bob)
    read = mira.call("GET", "/profiles/mira")
    assert read.json() == {"id": "mira", "_createdOn": MIDNIGHT, "_updatedOn": MIDNIGHT}
    headers = {"If-Match": read.headers["ETag"]}
    changed = mira.call("PATCH", "/profiles/mira", {"firstName": "Mira", "shoeSize": 38}, headers=headers)
    assert changed.status_code == 200
    told = frame_of(
        "profile.update", "mira", changed.json(), conversation=False, profileId="mira", etag=changed.headers["ETag"],
        revision=2)
    assert (heard(of_mira), heard(of_phone), heard(of_bob)) == ([told], [told], [])
    mira.refuse(
        412, {"message": "Precondition Failed"}, "etag-mismatch", "PUT", "/profiles/mira", {}, headers=headers)
    bob.refuse(403, FORBIDDEN, "foreign-profile", "PATCH", "/profiles/mira", {"firstName": "x"})
    assert heard(of_mira) == []
    # The iOS SDK puts the query into the path.
    for path in ("/profiles?shoeSize=>30", "/profiles%3FshoeSize=%3E30"):
        assert [profile["id"] for profile in bob.expect(200, "GET", path)] == ["mira"]
    mira.expect(201, "POST", "/conversations", {"id": TRIP})
    mira.post("Hi")
    assert of_mira.hear_all()[-1]["payload"]["context"]["from"] == {"id": "mira", "name": "Mira"}


def test_content_is_uploaded_in_three_forms_and_can_be_read_by_anybody(mira):
    image = bytes(range(256)) * 12

    def expect(answer, name: str, kind: str, folder: str = "content") -> None:
        assert answer.status_code == 200, answer.text
        told = answer.json()
        url = told.pop("url")
        assert url == f"{mira.sandbox.url}/apispaces/{A.id}/content/{told.pop('id')}"
        assert told == {"name": name, "size": len(image), "type": kind, "folder": folder, "private": False}
        read = requests.get(url, timeout=30)
        assert (read.status_code, read.content, read.headers["Content-Type"]) == (200, image, kind)
        assert read.headers["X-Content-Type-Options"] == "nosniff"

    data = base64.b64encode(image).decode()
    expect(mira.call("POST", "/content", {"data": data, "name": "map.png", "type": "image/png"}), "map.png", "image/png")
    expect(mira.call("POST", "/content?folder=x", files={"file": ("a b.png", image, "image/png")}), "a b.png", "image/png", "x")
    headers = {"Content-Type": "application/x-own", "content-filename": "b.bin"}
    expect(mira.call("POST", "/content?folder=y", data=image, headers=headers), "b.bin", "application/x-own", "y")
    # The iOS SDK streams JSON without stating its length.
    streamed = json.dumps({"data": data, "type": "image/png"}).encode()
    headers = {"Content-Type": "application/json", "Content-Filename": "c.png"}
    parts = (streamed[start:start + 1000] for start in range(0, len(streamed), 1000))
    expect(mira.call("POST", "/content", data=parts, headers=headers), "c.png", "image/png")
    mira.refuse(400, fault("data", "is not valid"), "invalid-parameter", "POST", "/content", {"data": "*", "type": "t"})
    mira.refuse(400, fault("file", "is required"), "missing-field", "POST", "/content", files={"other": b"x"})
    mira.refuse(
        413, {"message": "Payload Too Large"}, "body-too-large", "POST", "/content", data=bytes((10 << 20) + 1))
    mira.refuse(404, {"message": "Not Found"}, "unknown-content", "GET", "/content/none")


def test_pushes_are_noted_for_the_registered_sessions_of_the_others(mira, bob, trip):
    path = f"/sessions/{bob.session['id']}/push"
    fcm = {"fcm": {"package": "test.app", "registrationId": "tok-1"}}
    apns = {"apns": {"bundleId": "test.app", "environment": "development", "token": "tok-2"}}
    for registration in (fcm, apns):
        assert bob.expect(200, "PUT", path, registration).content == b""
    bob.refuse(400, fault("push", "is not valid"), "invalid-parameter", "PUT", path, {**fcm, **apns})
    sent = mira.post("Hi", alert={"title": "T", "platforms": {"apns": {"badge": 1}}})
    mira.post("no alert")
    bob.post("own", alert={"title": "T"})

    def pushes() -> list:
        return mira.sandbox.control("GET", "state/comapi")["spaces"][0]["pushes"]

    (push,) = pushes()
    url = f"{mira.sandbox.url}/apispaces/{A.id}/pushes/{push['id']}/click"
    data = {"dd_deepLink": json.dumps({"trackingUrl": url}, separators=(",", ":")), "dd_originated": "true"}
    assert push == {
        "id": push["id"], "data": data, "clicks": 0,
        "sessionId": bob.session["id"], "profileId": "bob", "registration": apns, "messageId": sent["id"], "at": MIDNIGHT,
        "alert": {"title": "T", "platforms": {"apns": {"badge": 1}}}}
    assert [requests.get(url, timeout=30).status_code for _ in range(2)] == [200, 200]
    assert pushes()[0]["clicks"] == 2
    assert bob.expect(204, "DELETE", path).content == b""
    mira.post("Hi", alert={"title": "T"})
    assert len(pushes()) == 1
    uuid.UUID(mira.expect(200, "POST", "/channels/facebook/state", {}))
