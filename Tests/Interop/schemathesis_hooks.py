"""What schemathesis must know in addition to the document."""

import re

import schemathesis


def without_nul(value):
    if isinstance(value, str):
        return value.replace("\0", "0")
    if isinstance(value, (list, tuple)):
        return [without_nul(element) for element in value]
    return {without_nul(k): without_nul(v) for k, v in value.items()} if isinstance(value, dict) else value


@schemathesis.hook
def before_call(context, case, kwargs):
    # The engine refuses an encoded NUL in a target before the path is examined, so the control API never sees it.
    case.path_parameters, case.query = without_nul(case.path_parameters), without_nul(case.query)
    # A wait that the call would accept: a millisecond shows as much as a minute.
    wait = (case.query or {}).get("wait")
    if isinstance(wait, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?(ms|s|m|h|d)", wait):
        case.query["wait"] = "1ms"
