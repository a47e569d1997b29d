"""Copies of JSON values with one place changed, and what the program says of fixtures that hold them."""

import copy
import subprocess
from pathlib import Path

from world import BINARY

REMOVED = object()


def changed(content, path, value):
    """The content with that value at the path; without the member if it is `REMOVED`."""
    if not path:
        return value
    content = copy.deepcopy(content)
    parent = content
    for step in path[:-1]:
        parent = parent[step]
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return content


def verdicts(folders: list[Path]) -> list[str]:
    """What is wrong with each folder of fixtures, empty if it is good: by one process for all."""
    if not folders:
        return []
    if len(folders) == 1:
        # Of a single one the program speaks differently.
        return verdicts(folders * 2)[:1]
    done = subprocess.run([BINARY, "fixtures", "check", *folders], capture_output=True, text=True)
    said, heads = [], iter([f"{folder}:" for folder in folders] + [None])
    head = next(heads)
    for line in done.stdout.splitlines():
        if line == head:
            said.append("")
            head = next(heads)
        else:
            said[-1] += f"{line}\n"
    wrong = ["" if text.startswith("read: ") else text for text in said]
    assert head is None and done.stderr == "" and done.returncode == int(any(wrong)), (done.returncode, done.stderr)
    return wrong
