"""Copies of JSON values with one place changed, for tests of what is refused."""

import copy

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
