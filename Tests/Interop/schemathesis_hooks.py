"""What schemathesis has to be told besides the document: not to spend its time waiting."""

import re

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # A wait that the call would take: a millisecond shows as much as a minute.
    wait = (case.query or {}).get("wait")
    if isinstance(wait, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?(ms|s|m|h|d)", wait):
        case.query["wait"] = "1ms"
