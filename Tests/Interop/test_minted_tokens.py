"""PyJWT's verdict on minted tokens, compared with Understudy's.

The two agree wherever RFC 7515 and 7519 decide. They differ where PyJWT is lenient, and where the vendor has
rules that a token library cannot know; the table gives the reason for each difference.
"""

import json

import jwt
import pytest
import requests
from world import AUTH_KEY, API_KEY

REQUIRED = ["rezolve_entity_id", "partner_entity_id", "exp", "device_id"]
ACCEPTED = None

# defect: what PyJWT raises, the failure in the journal, and why the two differ, if they do
DEFECTS = {
    "expired": (jwt.ExpiredSignatureError, "token-expired", ""),
    "not-yet-valid": (jwt.ImmatureSignatureError, "masked-not-yet-valid", ""),
    "missing-exp": (jwt.MissingRequiredClaimError, "masked-missing-fields", ""),
    "missing-device_id": (jwt.MissingRequiredClaimError, "masked-missing-fields", ""),
    "missing-rezolve_entity_id": (jwt.MissingRequiredClaimError, "masked-missing-fields", ""),
    "missing-auth": (ACCEPTED, "masked-missing-fields", "header member auth is the vendor's own"),
    "missing-typ": (ACCEPTED, ACCEPTED, ""),
    "wrong-alg": (jwt.InvalidAlgorithmError, "masked-signature", ""),
    "alg-hs256": (jwt.InvalidAlgorithmError, "masked-signature", ""),
    "alg-none": (jwt.InvalidAlgorithmError, "masked-signature", ""),
    "wrong-secret": (jwt.InvalidSignatureError, "masked-signature", ""),
    "wrong-key": (jwt.InvalidSignatureError, "masked-signature", ""),
    "secret-base64-decoded": (jwt.InvalidSignatureError, "masked-signature", ""),
    "tampered-payload": (jwt.InvalidSignatureError, "masked-signature", ""),
    "bad-signature": (jwt.InvalidSignatureError, "masked-signature", ""),
    "truncated-signature": (jwt.InvalidSignatureError, "masked-signature", ""),
    "padded-base64": (ACCEPTED, "masked-signature", "PyJWT decodes padding; RFC 7515 section 2 forbids it"),
    "two-parts": (jwt.DecodeError, "masked-signature", ""),
    "four-parts": (jwt.DecodeError, "masked-signature", ""),
    "milliseconds": (ACCEPTED, ACCEPTED, ""),
    "string-exp": (ACCEPTED, "masked-missing-fields", "PyJWT reads digits in a string; RFC 7519 section 2 wants a number"),
    "fractional-exp": (ACCEPTED, ACCEPTED, ""),
    "other-user": (ACCEPTED, "masked-other-user", "ownership is the vendor's rule"),
    "wrong-device": (ACCEPTED, "masked-device-mismatch", "the device is the vendor's rule"),
    "v2-header-bug": (ACCEPTED, "masked-missing-fields", "header member auth is the vendor's own"),
}
# Defects that are impossible in a token signed with a plain secret.
NOT_APPLICABLE = {"public-key-as-secret", "secret-hex-decoded"}


def decode(token: str) -> dict:
    return jwt.decode(token, AUTH_KEY, algorithms=["HS512"], options={"require": REQUIRED})


@pytest.mark.parametrize("kind", ["login", "registration", "logout"])
def test_pyjwt_verifies_what_the_control_api_mints(sandbox, kind):
    minted = sandbox.control("POST", f"tokens/rezolve/{kind}", {"claims": {"note": "žluťoučký kůň"}})
    claims = jwt.decode(minted["token"], AUTH_KEY, algorithms=["HS512"], options={"verify_exp": kind != "logout"})
    assert claims == minted["claims"]
    assert jwt.get_unverified_header(minted["token"]) == minted["header"]


@pytest.mark.parametrize("defect", DEFECTS)
def test_pyjwt_refuses_a_defective_token_where_the_table_says_so(sandbox, defect):
    token = sandbox.mint(defect=defect)
    error = DEFECTS[defect][0]
    if error is ACCEPTED:
        decode(token)
    else:
        with pytest.raises(error):
            decode(token)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_journal_names_the_failure_of_a_defective_token(sandbox, defect):
    answer = sandbox.call("GET", sandbox.customer("addressbook"), sandbox.mint(defect=defect))
    failure = DEFECTS[defect][1]
    entry = sandbox.last_entry()
    assert entry["failure"] == failure
    assert answer.status_code == {ACCEPTED: 200, "token-expired": 401}.get(failure, 403)
    assert (entry["reason"] is None) == (failure is ACCEPTED)


def test_the_table_knows_every_defect_that_the_server_offers(sandbox):
    kinds = [kind for kind in sandbox.control("GET", "tokens")["kinds"] if kind["vendor"] == "rezolve"]
    offered = {defect for kind in kinds for defect in kind["defects"]}
    assert offered - {"missing-CLAIM"} - NOT_APPLICABLE == {d for d in DEFECTS if not d.startswith("missing-")}


@pytest.mark.parametrize("defect", sorted(NOT_APPLICABLE))
def test_a_defect_that_a_secret_cannot_have_is_refused_with_its_reason(sandbox, defect):
    answer = requests.post(f"{sandbox.url}/_understudy/tokens/rezolve/login", json={"defect": defect})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"Defect {defect} is not possible here: ")
