"""The JSON Schemas of Bloomreach's content files, checked against the files and against Understudy's reader."""

import json

import pytest
import yaml
from changes import REMOVED, changed, verdicts
from jsonschema import Draft202012Validator
from world import ROOT

FOLDER = ROOT / "Fixtures/bloomreach"
NAMES = sorted(path.stem for path in (FOLDER / "content").glob("*.yaml"))


def load(name: str):
    return yaml.safe_load((FOLDER / f"content/{name}.yaml").read_text())


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"schemas/{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def judged(folder, name: str, contents: list) -> list[str]:
    """What Understudy's reader finds wrong with each; JSON is also YAML."""
    folders = [folder / str(number) for number in range(len(contents))]
    for each, content in zip(folders, contents):
        path = each / f"bloomreach/content/{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    return verdicts(folders)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_names_its_schema_and_is_valid(name):
    first = (FOLDER / f"content/{name}.yaml").read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema=../schemas/{name}.schema.json"
    assert [error.message for error in validator(name).iter_errors(load(name))] == []


def test_each_schema_has_its_file():
    schemas = sorted(path.name.removesuffix(".schema.json") for path in (FOLDER / "schemas").iterdir())
    assert schemas == sorted([*NAMES, "accounts"])


P1 = ("projects", "demo-project-1")
MESSAGE, HTML = (*P1, 0, "messages", 0), (*P1, 0, "messages", 1)
# The place and its replacement value.
WRONG = {
    "app-inbox": [
        ((*MESSAGE, "type"), "sms"), ((*MESSAGE, "type"), REMOVED), ((*MESSAGE, "id"), ""), ((*MESSAGE, "id"), 7),
        ((*MESSAGE, "is_read"), "no"), ((*MESSAGE, "create_time"), "soon"), ((*MESSAGE, "create_time"), REMOVED),
        ((*MESSAGE, "create_time"), "30"), ((*MESSAGE, "create_time"), "3 d"), ((*MESSAGE, "create_time"), None),
        ((*MESSAGE, "expire_time"), -1), ((*MESSAGE, "expire_time"), 1e13), ((*MESSAGE, "content"), REMOVED),
        ((*MESSAGE, "content"), None), ((*MESSAGE, "content", "title"), 7), ((*MESSAGE, "content", "action"), "deep-link"),
        ((*MESSAGE, "content", "actions"), {}), ((*MESSAGE, "content", "actions", 0, "action"), "close"),
        ((*MESSAGE, "content", "url_params"), ["x"]), ((*MESSAGE, "content", "silent"), "no"),
        ((*MESSAGE, "application_id"), ""), ((*MESSAGE, "stamp"), 1), ((*HTML, "content", "message"), REMOVED),
        ((*HTML, "content", "pre_header"), 7), ((*P1, 0, "customer"), {}), ((*P1, 0, "customer", "cookie"), "x"),
        ((*P1, 0, "messages"), {}), ((*P1, 0, "extra"), 1), (("extra",), 1), (("projects",), REMOVED), (("projects",), []),
    ],
    "in-app-messages": [
        ((*P1, 0, field), REMOVED)
        for field in [
            "id", "name", "frequency", "variant_id", "variant_name", "trigger", "date_filter", "is_html", "is_rich_text"]
    ] + [
        ((*P1, 0, "message_type"), "popup"), ((*P1, 0, "frequency"), None), ((*P1, 0, "variant_id"), 0.5),
        ((*P1, 0, "variant_id"), "0"), ((*P1, 0, "load_delay"), 0.5), ((*P1, 0, "close_timeout"), "10"),
        ((*P1, 0, "trigger", "event_type"), ""), ((*P1, 0, "trigger", "filter"), REMOVED),
        ((*P1, 0, "date_filter", "enabled"), REMOVED), ((*P1, 0, "date_filter", "to_date"), 1.5),
        ((*P1, 0, "date_filter", "to_date"), "soon"), ((*P1, 0, "date_filter", "from_date"), -1),
        ((*P1, 0, "payload", "titel"), "x"), ((*P1, 0, "payload", "title"), 1),
        ((*P1, 0, "payload", "buttons", 0, "button_type"), "close"), ((*P1, 0, "audience"), []),
        ((*P1, 0, "audience"), "ana@example.test"), ((*P1, 0, "is_html"), True), ((*P1, 0, "extra"), 1),
        ((*P1, 1, "payload"), None), ((*P1, 1, "payload"), REMOVED), ((*P1, 1, "payload", "buttons"), REMOVED),
        ((*P1, 1, "payload", "buttons", 0, "button_text"), REMOVED),
        ((*P1, 1, "trigger", "filter", 0, "attribute", "type"), "event"),
        ((*P1, 1, "trigger", "filter", 0, "attribute", "property"), REMOVED),
        ((*P1, 1, "trigger", "filter", 0, "constraint", "type"), "text"),
        ((*P1, 1, "trigger", "filter", 0, "constraint", "operator"), "is"),
        ((*P1, 1, "trigger", "filter", 0, "constraint", "value"), "true"),
        ((*P1, 1, "trigger", "filter", 0, "constraint", "operands", 0, "value"), 17),
        ((*P1, 1, "trigger", "filter", 0, "constraint", "operands", 0, "type"), "variable"),
        ((*P1, 1, "trigger", "filter", 1, "constraint", "operator"), "contains"),
        ((*P1, 1, "trigger", "filter", 2, "constraint", "value"), True),
        ((*P1, 1, "trigger", "filter", 2, "constraint", "operator"), "equals"),
        ((*P1, 2, "payload_html"), None), ((*P1, 2, "payload_html"), REMOVED),
    ],
    "content-blocks": [
        ((*P1, 0, field), REMOVED)
        for field in ["id", "name", "delivery", "date_filter", "frequency", "content_type", "content", "placeholders"]
    ] + [
        ((*P1, 0, "content_type"), "text"), ((*P1, 0, "content_type"), None), ((*P1, 0, "content"), "x"),
        ((*P1, 0, "content", "html"), REMOVED), ((*P1, 0, "content", "more"), 1), ((*P1, 0, "delivery"), "later"),
        ((*P1, 0, "audience"), ["ana@example.test"]), ((*P1, 0, "placeholders"), ["a", 1]),
        ((*P1, 0, "load_priority"), "1"), ((*P1, 1, "ttl_seconds"), -1), ((*P1, 1, "ttl_seconds"), None),
        ((*P1, 1, "has_tracking_consent"), None), ((*P1, 1, "audience"), [""]),
    ],
    "consents": [
        ((*P1, "categories", 0, "sources", source), REMOVED)
        for source in ["crm", "import", "page", "private_api", "public_api", "scenario"]
    ] + [
        ((*P1, "categories", 0, "sources", "sms"), True), ((*P1, "categories", 0, "sources", "crm"), "yes"),
        ((*P1, "categories", 0, "id"), REMOVED), ((*P1, "categories", 0, "legitimate_interest"), None),
        ((*P1, "categories", 0, "translations"), REMOVED), ((*P1, "categories", 0, "translations", "en"), "x"),
        ((*P1, "categories", 0, "translations", "en", "name"), 1), ((*P1, "categories"), REMOVED),
        ((*P1, "customers", 0, "consents", "newsletter"), 1),
    ],
    "segments": [
        ((*P1, 0, "segments", "discovery", 0, "id"), 1), ((*P1, 0, "segments", "other"), []),
        ((*P1, 0, "segments", "content"), {}), ((*P1, 0, "segments"), REMOVED), ((*P1, 0, "customer"), REMOVED),
    ],
    "recommendations": [
        ((*P1, "catalog", 0, "item_id"), REMOVED), ((*P1, "catalog", 0, "item_id"), 1),
        ((*P1, "catalog", 0, "engine_name"), "x"), ((*P1, "engines", 0, "id"), ""), ((*P1, "engines", 0, "name"), REMOVED),
        ((*P1, "engines", 0, "variant_id"), 1), ((*P1, "engines", 0, "items"), "item-1"), ((*P1, "catalog"), REMOVED),
    ],
    "computed-attributes": [
        ((*P1, 0, "type"), "oracle"), ((*P1, 0, "id"), REMOVED), ((*P1, 0, "values", 0, "value"), REMOVED),
        ((*P1, 0, "values", 0, "extra"), 1),
    ],
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_refused_by_schema_and_reader_alike(name, tmp_path):
    schema, content = validator(name), load(name)
    accepted = []
    wrong = [changed(content, path, value) for path, value in WRONG[name]]
    for (path, value), each, told in zip(WRONG[name], wrong, judged(tmp_path, name, wrong)):
        place = f"{'.'.join(map(str, path))} = {'removed' if value is REMOVED else value!r}"
        if schema.is_valid(each):
            accepted.append(f"the schema: {place}")
        if f"{name}.yaml" not in told:
            accepted.append(f"the reader: {place}: {told or 'good'}")
    assert accepted == []


ALSO_GOOD = {
    "app-inbox": [
        ((*MESSAGE, "is_read"), True), ((*MESSAGE, "application_id"), "tv"), ((*MESSAGE, "content", "title"), None),
        ((*MESSAGE, "content", "more"), {"a": [1]}), ((*MESSAGE, "content"), {}), ((*P1, 0, "messages"), []),
        (P1, REMOVED), ((*MESSAGE, "content", "action"), None),
        ((*MESSAGE, "create_time"), 1799999900.5), ((*MESSAGE, "expire_time"), "1.5h"),
        ((*MESSAGE, "content", "url_params"), [{"a": "b"}]),
    ],
    "in-app-messages": [
        ((*P1, 0, "payload"), None), ((*P1, 0, "payload"), REMOVED), ((*P1, 0, "payload", "buttons"), None),
        ((*P1, 0, "message_type"), None), ((*P1, 0, "load_delay"), None), ((*P1, 0, "date_filter"), {"enabled": True}),
        ((*P1, 1, "trigger", "filter", 2, "constraint", "operator"), "is set"),
        ((*P1, 0, "audience"), ["a"]), (P1, []), ((*P1, 0, "frequency"), "unknown"),
        ((*P1, 1, "payload", "buttons", 0, "button_corner_radius"), "12dp"),
        ((*P1, 0, "date_filter"), {"enabled": True, "from_date": 1799000000, "to_date": "-90s"}),
    ],
    "content-blocks": [
        ((*P1, 0, "load_priority"), None), ((*P1, 1, "audience"), REMOVED), ((*P1, 1, "ttl_seconds"), 0), (P1, []),
    ],
    "consents": [
        ((*P1, "customers"), REMOVED), ((*P1, "categories", 0, "translations"), {}),
        ((*P1, "categories", 0, "sources", "list_unsubscribe"), REMOVED),
    ],
    "segments": [((*P1, 0, "segments"), {}), ((*P1, 0, "segments", "discovery", 0, "more"), "x")],
    "recommendations": [((*P1, "catalog", 0, "more"), [None]), ((*P1, "engines", 0, "variant_id"), REMOVED)],
    "computed-attributes": [((*P1, 0, "values"), REMOVED), ((*P1, 0, "values", 0, "value"), None)],
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_good_is_taken_by_schema_and_reader_alike(name, tmp_path):
    schema, content = validator(name), load(name)
    # What was read and written again, and changed.
    cases = [("unchanged", content)] + [
        (f"{'.'.join(map(str, path))} = {'removed' if value is REMOVED else value!r}", changed(content, path, value))
        for path, value in ALSO_GOOD[name]]
    refused = []
    for (place, good), told in zip(cases, judged(tmp_path, name, [good for _, good in cases])):
        refused += [f"the schema: {place}: {error.message}" for error in schema.iter_errors(good)]
        if told:
            refused.append(f"the reader: {place}: {told}")
    assert refused == []
