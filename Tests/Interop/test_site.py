"""The README and the built documentation: their links lead somewhere, docc warns of nothing, and a browser shows each page."""

import json
import re
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from devtools import Browser
from documents import CATALOG, FILES, README
from world import ROOT

ROOT_PAGE = "/documentation/understudy"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    made = subprocess.run([ROOT / "docker/site.sh", folder], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stdout + made.stderr
    # The script turns warnings into errors; this finds what docc prints beside them.
    assert "warning:" not in made.stdout + made.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """The content of each page, by its path."""
    found = {}
    for file in (site / "data").rglob("*.json"):
        found["/" + str(file.relative_to(site / "data").with_suffix(""))] = json.loads(file.read_text())
    return found


def test_the_readme_is_short():
    assert len(README.read_text().splitlines()) <= 110


def test_the_readme_s_links_lead_to_files():
    text = README.read_text()
    links = [*re.findall(r"\]\(([^)]+)\)", text), *re.findall(r'(?:src|srcset)="([^"]+)"', text)]
    assert len(links) > 20
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.*)$", text, re.M)}
    for link in links:
        place, _, anchor = link.partition("#")
        assert link.startswith("https://") or (anchor in headings if not place else (ROOT / place).is_file()), link


# The page of sources names files of other repositories.
@pytest.mark.parametrize("file", [file for file in FILES if file.name != "Sources.md"], ids=lambda file: file.name)
def test_the_paths_that_a_page_names_exist(file):
    # Code is left out: a quotation is tested by its mark.
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.S | re.M)
    for path in re.findall(r"`((?:Sources|Tests|docker|\.ci)/[\w./+-]+)`", text):
        # A name in capitals stands for any vendor.
        assert "NAME" in path or (ROOT / path).exists() or [*ROOT.glob(f"Sources/{path}")], path


def test_the_index_names_every_page():
    # Decisions are for people who change the program, so they are listed apart.
    lists = {True: (CATALOG / "Decisions.md").read_text(), False: (CATALOG / "Understudy.md").read_text()}
    for file in CATALOG.glob("*.md"):
        decides = re.match(r"\d{4}-", file.name) is not None
        if file.stem != "Understudy":
            assert f"<doc:{file.stem}>" in lists[decides] and f"<doc:{file.stem}>" not in lists[not decides], file.name


def test_every_page_of_the_catalog_is_built(pages):
    expected = {ROOT_PAGE} | {f"{ROOT_PAGE}/{file.stem.lower()}" for file in CATALOG.glob("*.md") if file.stem != "Understudy"}
    assert set(pages) == expected and len(expected) > 40


def parts(value):
    """All objects of a JSON value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from parts(each)


def test_every_link_leads_somewhere(site, pages):
    followed = 0
    for path, page in pages.items():
        references = page.get("references", {})
        for part in parts({key: value for key, value in page.items() if key != "references"}):
            identifiers = part.get("identifiers") or [part.get("identifier")]
            for identifier in identifiers if part.get("type") in ("reference", "image", None) else []:
                # A page names itself by an object; sections of topics list texts.
                if isinstance(identifier, str) and (identifier.startswith("doc:") or part.get("type") == "image"):
                    assert identifier in references, f"{path}: {identifier}"
        for reference in references.values():
            kind = reference["type"]
            assert kind in ("topic", "link", "image", "section"), f"{path}: a reference {reference}"
            if kind == "topic":
                target, _, anchor = reference["url"].partition("#")
                assert target in pages and (site / target[1:] / "index.html").is_file(), f"{path}: {target}"
                assert not anchor or f'"anchor": "{anchor}"' in json.dumps(pages[target]), f"{path}: {reference['url']}"
            if kind == "image":
                for variant in reference["variants"]:
                    assert (site / variant["url"].lstrip("/")).is_file(), f"{path}: {variant['url']}"
            if kind == "link":
                assert reference["url"].startswith("https://"), f"{path}: {reference['url']}"
            followed += 1
    assert followed > 100


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(site):
    """The address of the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


def test_a_browser_shows_each_page(served, site, browser, pages):
    # The same file for all: it is loaded once, and goes on as it does when a link is followed.
    assert len({(site / path[1:] / "index.html").read_bytes() for path in pages}) == 1
    tab = browser.open(f"{served}{ROOT_PAGE}/")
    for path, page in pages.items():
        tab.run(f"history.pushState({{}}, '', '{path}/'), dispatchEvent(new PopStateEvent('popstate', {{state: {{}}}}))")
        title = json.dumps(page["metadata"]["title"])
        tab.until(f"location.pathname === '{path}/' && document.querySelector('h1')?.textContent.includes({title})")
        assert tab.complaints == [], path
    tab.close()


FOUND = "[...document.querySelectorAll('#results a')].map(link => link.getAttribute('href'))"


def test_the_start_page_lists_what_the_catalog_lists(served, browser, pages):
    tab = browser.open(f"{served}/")
    links = tab.run("[...document.querySelectorAll('#pages a')].map(link => link.getAttribute('href'))")
    assert {f"/{link.rstrip('/')}" for link in links} == {
        path for path in pages if path != ROOT_PAGE and not re.search(r"/\d{4}-", path)}
    assert tab.complaints == []
    tab.close()


@pytest.mark.parametrize(("words", "place"), [
    ("kid-unknown rotation", "documentation/understudy/useims/#The-life-of-a-session"),
    ("MASKED-SIGNATURE", "documentation/understudy/whyrefused/#Rezolve"),
    ("signed_only_ids permissions", "documentation/understudy/upgrading/#From-010"),
    ("upgrading", "documentation/understudy/upgrading/"),
])
def test_a_word_in_the_middle_of_a_page_is_found(served, browser, pages, words, place):
    tab = browser.open(f"{served}/?q={words}")
    found = tab.run(FOUND)
    assert place in found, found
    assert set(tab.run("[...document.querySelectorAll('#results mark')].map(mark => mark.textContent.toLowerCase())")) <= set(words.lower().split())
    tab.run("document.querySelector('input').value = 'no-such-word-anywhere'; document.querySelector('input').dispatchEvent(new Event('input'))")
    assert tab.run(FOUND) == [] and "Nothing has all of these words" in tab.text()
    tab.close()


def test_every_part_that_the_search_knows_is_there(site, pages):
    parts = json.loads((site / "search-index.js").read_text().removeprefix("const PARTS = ").rstrip(";\n"))
    assert len(parts) > 300 and {f"/{part['path'].partition('/#')[0].rstrip('/')}" for part in parts} == set(pages)
    for part in parts:
        path, _, anchor = part["path"].partition("#")
        assert not anchor or f'"anchor": "{anchor}"' in json.dumps(pages[f"/{path.rstrip('/')}"]), part["path"]
    assert sum(len(part["text"]) for part in parts) > 400_000


def test_the_search_needs_no_server(site, browser):
    tab = browser.open(f"file://{site}/index.html?q=kid-unknown")
    assert tab.run(FOUND) and tab.run("!document.querySelector('#notice').hidden")
    tab.close()


def test_each_page_has_a_field_that_searches_all_of_them(served, browser):
    tab = browser.open(f"{served}{ROOT_PAGE}/ims/")
    tab.until("!!document.querySelector('custom-header')?.shadowRoot?.querySelector('input')")
    tab.run("const form = document.querySelector('custom-header').shadowRoot.querySelector('form');"
            " form.querySelector('input').value = 'etag-mismatch'; form.requestSubmit()")
    tab.until("!!document.querySelector('#results a')")
    assert "documentation/understudy/comapi/#Failures" in tab.run(FOUND)
    tab.close()


def test_nothing_is_wider_than_a_phone(served, browser):
    for path in ("/", "/?q=token"):
        tab = browser.open(served + path, width=360, height=740)
        assert tab.run("document.documentElement.scrollWidth") <= 360, path
        tab.close()


def test_the_picture_is_small_and_exists_for_both_themes():
    for name in ("dashboard.png", "dashboard~dark.png"):
        picture = CATALOG / "Resources" / name
        assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 150_000
