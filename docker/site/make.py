"""Gives the built site an index page, a search over the whole text of all pages, and on each page a field that leads there.

    docker/site/make.py FOLDER BASE
"""

import html
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = "documentation/understudy"

# What docc's pages show above their own bar; the color scheme is that of the page.
FIELD = """<template id="custom-header"><style>
form {{ box-sizing: border-box; display: flex; gap: 1rem; align-items: center; padding: .5rem 1rem; font: 14px system-ui, sans-serif;
    color: var(--color-text, CanvasText); background: var(--color-fill, Canvas); border-bottom: 1px solid var(--color-grid, #8888); }}
a {{ color: inherit; text-decoration: none; font-weight: 600; }}
input {{ flex: 1; min-width: 0; max-width: 24rem; margin-left: auto; padding: .3rem .6rem; border: 1px solid #8888; border-radius: .4rem; background: transparent; color: inherit; font: inherit; }}
</style><form role="search" action="{base}"><a href="{base}">All pages</a><input type="search" name="q" aria-label="Search all pages" placeholder="Search all pages"></form></template>"""


def text_of(value, references: dict) -> str:
    """All words of a part of a page, in their order."""
    if isinstance(value, list):
        return " ".join(filter(None, (text_of(each, references) for each in value)))
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "reference":
        return references.get(value["identifier"], {}).get("title", "")
    if value.get("type") == "codeListing":
        return "\n".join(value["code"])
    if "inlineContent" in value:
        return "".join(text_of(each, references) for each in value["inlineContent"])
    own = value.get("text") or value.get("code")
    return own if isinstance(own, str) else " ".join(filter(None, (text_of(each, references) for each in value.values())))


def parts_of(page: dict, path: str, group: str):
    """A page in parts, one for what stands before its first heading and one for each heading."""
    title, references = page["metadata"]["title"], page.get("references", {})
    part = {"title": title, "heading": "", "path": path, "group": group, "text": text_of(page.get("abstract", []), references)}
    for section in page.get("primaryContentSections", []):
        for block in section.get("content", []):
            if block["type"] == "heading":
                # docc writes this heading where a page has none before its first words.
                if block["text"] == "Overview":
                    continue
                yield part
                part = {"title": title, "heading": block["text"], "path": f"{path}#{block['anchor']}", "group": group, "text": ""}
            else:
                part["text"] = " ".join(filter(None, [part["text"], text_of(block, references)]))
    yield part


def groups_of(page: dict):
    """The topics of a page: a heading, and the pages below it."""
    for topic in page.get("topicSections", []):
        yield topic["title"], [page["references"][each] for each in topic["identifiers"]]


def main(folder: Path, base: str) -> None:
    pages = {
        str(file.relative_to(folder / "data").with_suffix("")): json.loads(file.read_text())
        for file in sorted((folder / "data").rglob("*.json"))}
    listed, group_of = [], {}
    for heading, references in groups_of(pages[ROOT]):
        items = []
        for reference in references:
            path = reference["url"].strip("/")
            group_of[path] = heading
            items.append(
                f'<li><a href="{html.escape(path)}/">{html.escape(reference["title"])}</a>'
                f'<small>{html.escape(text_of(reference.get("abstract", []), {}))}</small></li>')
        listed.append(f"<h2>{html.escape(heading)}</h2>\n<ul>\n" + "\n".join(items) + "\n</ul>")
    # Decisions are listed on a page of their own.
    for path in pages.keys() - group_of.keys() - {ROOT}:
        group_of[path] = "Decisions"
    parts = [part for path, page in pages.items() for part in parts_of(page, f"{path}/", group_of.get(path, ""))]
    (folder / "search-index.js").write_text(
        "const PARTS = " + json.dumps(parts, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/") + ";\n")
    (folder / "search.js").write_text((HERE / "search.js").read_text())
    (folder / "index.html").write_text((HERE / "index.html").read_text().replace("<!-- pages -->", "\n".join(listed)))
    field = FIELD.format(base=html.escape(base.rstrip("/") + "/"))
    for file in (folder / "documentation").rglob("index.html"):
        file.write_text(file.read_text().replace('<div id="app">', f'{field}<div id="app">', 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
