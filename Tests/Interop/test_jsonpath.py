"""The compliance suite of JSONPath over the program's own: what it does not support it refuses, and finds nothing wrong.

The suite (jsonpath-standard/jsonpath-compliance-test-suite) stands in the source archive of a package on PyPI. Each of its cases
becomes a Hurl file whose assert compares what the path finds in a document, all nodes in order.
"""

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from world import BINARY

PACKAGE = "jsonpath-rfc9535==2.0.2"
# A query by names and indexes alone, of which Hurl shows the value and not the list (RFC 9535 section 2.3.5.1).
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
SINGULAR = re.compile(rf"\$(?:\s*(?:\.[A-Za-z_\u0080-\U0010ffff][0-9A-Za-z_\u0080-\U0010ffff]*|\[\s*(?:{QUOTED}|-?\d+)\s*\]))*")
FUNCTION = re.compile(r"\b(length|count|match|search|value)\s*\(")


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> list[dict]:
    folder = tmp_path_factory.mktemp("suite")
    # It need not run here, so its wishes for a newer Python do not matter.
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
         "--ignore-requires-python", "--dest", folder, PACKAGE], check=True, timeout=300)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        members = [member for member in files if re.search(r"/cts/tests/.*\.json$", member.name)]
        return [case for member in members for case in json.load(files.extractfile(member))["tests"]]


def quoted(text: str) -> str:
    """The text as a string of a Hurl file, in which braces would begin a variable."""
    return '"' + "".join(
        character if character.isalnum() or character in " .,:;$@*?!<>=&|()[]'-_" else f"\\u{{{ord(character):x}}}"
        for character in text) + '"'


def hurl(case: dict) -> list[str]:
    """The files of a case: the standard leaves some orders open, and then one of several must pass."""
    results = case.get("results") or [case.get("result", [])]
    wanted, check = results, "== {{wanted}}"
    if SINGULAR.fullmatch(case["selector"]):
        wanted = results[0] or [None]
        check = check if results[0] else "not exists"
    return [
        f"""GET {{{{base}}}}/_understudy/health
[Options]
variable: path={quoted(case["selector"])}
variable: document={quoted(json.dumps(case.get("document")))}
variable: text={quoted(json.dumps(each))}
HTTP 200
[Captures]
wanted: variable "text" jsonpath "$"
[Asserts]
variable "document" jsonpath "{{{{path}}}}" {check}
""" for each in wanted]


def test_what_is_not_supported_is_refused_and_nothing_is_found_wrongly(suite, tmp_path):
    for number, case in enumerate(suite):
        for order, text in enumerate(hurl(case)):
            (tmp_path / f"{number:04}-{order}.hurl").write_text(text, encoding="utf-8")
    done = subprocess.run([BINARY, "contract", "run", tmp_path, "--json"], capture_output=True, text=True, timeout=300)
    said = {}
    for result in json.loads(done.stdout):
        said.setdefault(int(Path(result["file"]).name[:4]), []).append(result)
    right, refused, wrong = [], [], []
    for number, case in enumerate(suite):
        texts = [json.dumps(result, ensure_ascii=False) for result in said[number]]
        is_refused = all(re.search(r"character \d+: found", text) for text in texts)
        if case.get("invalid_selector"):
            (right if is_refused else wrong).append(case)
        elif is_refused:
            refused.append(case)
        else:
            (right if any(result["passed"] for result in said[number]) else wrong).append(case)
    assert not wrong, "\n".join(f"{case['name']}: {case['selector']}" for case in wrong)
    assert all(FUNCTION.search(case["selector"]) for case in refused), refused
    assert (len(right), len(refused)) == (623, 83)
