"""The server's OpenAPI document, and answers checked against it by an independent JSON Schema validator."""

import copy
import json
import re

import requests
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

METHODS = {"get", "put", "post", "delete", "patch", "options", "head"}


def closed(schema):
    """The schema without room for undeclared members: answers may grow, but not unnoticed."""
    if isinstance(schema, list):
        return [closed(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: closed(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        schema.setdefault("additionalProperties", False)
    return schema


class Description:
    """The document by operation."""

    def __init__(self, url: str):
        self.document = requests.get(f"{url}/_understudy/openapi.json").json()
        strict = copy.deepcopy(self.document)
        strict["components"]["schemas"] = closed(strict["components"]["schemas"])
        self.registry = Registry().with_resource("urn:control", Resource(strict, DRAFT202012))
        self.operations = {
            operation["operationId"]: (method.upper(), path)
            for path, item in self.document["paths"].items()
            for method, operation in item.items() if method in METHODS
        }

    def pointer(self, *parts) -> str:
        return "urn:control#/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in parts)

    def check(self, reference: str, value) -> None:
        Draft202012Validator({"$ref": reference}, registry=self.registry).validate(value)

    def check_content(self, operation: str, value) -> None:
        method, path = self.operations[operation]
        self.check(self.pointer("paths", path, method.lower(), "requestBody", "content", "application/json", "schema"), value)

    def check_answer(self, operation: str, answer: requests.Response) -> None:
        """Checks that the status is one of the operation's, and that the content matches its schema."""
        method, path = self.operations[operation]
        responses = self.document["paths"][path][method.lower()]["responses"]
        status = str(answer.status_code)
        assert status in responses, f"{operation} answered {status}: {answer.text}"
        if "$ref" in responses[status]:
            parts = responses[status]["$ref"].split("/")[1:]
            response = self.document["components"]["responses"][parts[-1]]
        else:
            parts, response = ["paths", path, method.lower(), "responses", status], responses[status]
        if "content" not in response:
            assert not answer.content
            return
        media_type = re.split(r"\s*;\s*", answer.headers["content-type"])[0]
        assert media_type in response["content"]
        value = json.loads(answer.content) if media_type == "application/json" else answer.text
        self.check(self.pointer(*parts, "content", media_type, "schema"), value)
