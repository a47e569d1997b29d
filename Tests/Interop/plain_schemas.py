"""A vendor's document in words that openapi-python-client 0.29 knows; it says the same, or less where noted.

What that generator cannot read is JSON Schema all the same: a boolean as a schema, `const` with a list, an array of anything, a
choice of one, and a choice among objects that have objects. It reads a schema only once all that it refers to is read.
"""

import copy
from collections.abc import Iterator

PLACE = "#/components/schemas/"


def plain_document(document: dict) -> dict:
    schemas = {name: plain(schema) for name, schema in document["components"]["schemas"].items()}
    aliases = {name: schema["anyOf"][0]["$ref"] for name, schema in schemas.items() if is_alias(schema)}
    parts: dict[str, dict] = {}
    for name, schema in schemas.items():
        if name not in aliases:
            parts[name] = hoisted(name, resolved(schema, aliases), parts)
    paths = resolved(with_plain_requests(document["paths"]), aliases)
    for item in paths.values():
        for operation in item.values():
            for response in operation["responses"].values():
                # Any type of content; left out.
                response.get("content", {}).pop("*/*", None)
    return {**document, "paths": paths, "components": {**document["components"], "schemas": in_order(parts)}}


def with_plain_requests(paths: dict) -> dict:
    made = copy.deepcopy(paths)
    for item in made.values():
        for operation in item.values():
            places = [*operation.get("parameters", []), *operation.get("requestBody", {}).get("content", {}).values()]
            for place in places:
                place["schema"] = plain(place["schema"])
    return made


def plain(schema):
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    made = dict(schema)
    if "const" in made:
        made.update(constant(made.pop("const")))
    for name in ("items", "additionalProperties"):
        if isinstance(made.get(name), dict) or name == "items" and name in made:
            made[name] = plain(made[name])
    if "properties" in made:
        made["properties"] = {name: plain(value) for name, value in made["properties"].items()}
    if "anyOf" in made:
        made["anyOf"] = [plain(each) for each in made["anyOf"]]
    if "array" in made.get("type", ""):
        made.setdefault("items", {})
    return made


def constant(value) -> dict:
    if isinstance(value, bool):
        return {"type": "boolean"}  # Less: it would write code that cannot be parsed.
    if isinstance(value, dict):
        return {
            "type": "object", "properties": {name: constant(each) for name, each in value.items()}, "required": list(value),
            "additionalProperties": False}
    if isinstance(value, list):
        # Less: the elements in any order.
        elements = [each for number, each in enumerate(value) if each not in value[:number]]
        items = {"enum": elements} if len(elements) > 1 else constant(elements[0]) if elements else {}
        return {"type": "array", "items": items, "minItems": len(value), "maxItems": len(value)}
    return {"const": value}


def is_alias(schema: dict) -> bool:
    choices = schema.get("anyOf", [])
    return len(choices) == 1 and list(choices[0]) == ["$ref"]


def resolved(value, aliases: dict[str, str]):
    if isinstance(value, list):
        return [resolved(each, aliases) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: resolved(each, aliases) for name, each in value.items()}
    while isinstance(made.get("$ref"), str) and made["$ref"].removeprefix(PLACE) in aliases:
        made["$ref"] = aliases[made["$ref"].removeprefix(PLACE)]
    return made


def hoisted(name: str, value, parts: dict[str, dict]):
    """The schema with the objects among its choices as parts of their own."""
    if isinstance(value, list):
        return [hoisted(f"{name}.{number}", each, parts) for number, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    made = {member: hoisted(name if member == "properties" else f"{name}.{member}", each, parts) for member, each in value.items()}
    for number, each in enumerate(made.get("anyOf", [])):
        if "properties" in each:
            parts[f"{name}.choice-{number}"] = each
            made["anyOf"][number] = {"$ref": f"{PLACE}{name}.choice-{number}"}
    return made


def in_order(parts: dict[str, dict]) -> dict[str, dict]:
    """What others refer to comes first."""
    ordered: dict[str, dict] = {}

    def add(name: str, above: tuple) -> None:
        if name in parts and name not in ordered and name not in above:
            for other in references(parts[name]):
                add(other, (*above, name))
            ordered[name] = parts[name]

    for name in parts:
        add(name, ())
    return ordered


def references(value) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "$ref":
                yield each.removeprefix(PLACE)
            else:
                yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)
