"""Holds the vendors' pages of the documentation against the program they are about."""

import re

import pytest
import yaml
from pages import CATALOG, COMMAND, PAGES, SECTION, SUPPORTED, ask, filled
from world import ROOT, VENDORS

PAGE = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)

# What a reader of each page is promised, as far as the vendor has any; `rules` come on top, by its tokens.
PROMISED = {"routes", "failures", "switches", "actions", "scenarios", "tokens"}

# The names in the first column of a table.
NAMES = re.compile(r"^\| `([^`]+)`", re.M)


def test_every_vendor_has_a_page():
    assert sorted(PAGES.values()) == VENDORS


USED = [page for page in PAGES if (CATALOG / f"Use{page.stem}.md").exists()]


def test_the_vendors_that_apps_use_have_a_page_to_begin_with_as_well():
    assert len(USED) >= 5


@pytest.mark.parametrize("path", USED, ids=lambda path: path.stem)
def test_a_page_to_begin_with_has_a_session_a_test_in_each_language_and_mistakes(path):
    use = (CATALOG / f"Use{path.stem}.md").read_text()
    assert f"<doc:{path.stem}>" in use and f"<doc:Use{path.stem}>" in path.read_text()
    assert re.findall(r"^## (.*)$", use, re.M) == ["The life of a session", "In a test", "Three usual mistakes"]
    assert re.findall(r"^<!-- from: .*\.(\w+) -->$", use, re.M) == ["swift", "py", "mjs"]


@PAGE
def test_a_page_says_what_the_program_prints(path):
    page = path.read_text()
    assert page == filled(page, PAGES[path]), f"update the page with: {COMMAND}"


def test_the_page_on_what_is_supported_says_what_the_documents_describe():
    page = SUPPORTED.read_text()
    assert page == filled(page, ""), f"update the page with: {COMMAND}"
    assert [f"supported {vendor}" for vendor in VENDORS] == sorted(name for _, name, _ in SECTION.findall(page))


@PAGE
def test_a_page_has_every_section(path):
    names = [name for _, name, _ in SECTION.findall(path.read_text())]
    assert len(names) == len(set(names))
    vendor = PAGES[path]
    assert {name for name in PROMISED if name == "tokens" or ask("routes", f"--{name}", "--vendor", vendor, "--json")} <= set(names)
    assert any(name.startswith("rules ") for name in names)


@PAGE
def test_a_page_names_only_what_exists(path):
    page, vendor = path.read_text(), PAGES[path]
    prose = SECTION.sub("", page)
    listed = {section[2]: NAMES.findall(section[0]) for section in SECTION.finditer(page)}
    switches = re.findall(rf"(?:[Ss]witch `|`{vendor}\.)([a-z-]+)[`=]", prose)
    assert switches
    assert {f"{vendor}.{name}" for name in switches} - set(listed["switches"]) == set()
    assert set(re.findall(r"[Aa]ction `([a-z-]+)`", prose)) - set(listed.get("actions", [])) == set()
    assert set(re.findall(r"[Ss]cenario `([a-z-]+)`", prose)) - set(listed.get("scenarios", [])) == set()


def test_the_files_that_the_page_on_adding_a_vendor_lists_name_every_vendor():
    lists = (CATALOG / "AddingAVendor.md").read_text().split("\n## 9.")[1]
    files = NAMES.findall(lists)
    assert len(files) == 13
    for file in files:
        text = (ROOT / file).read_text().lower()
        assert [vendor for vendor in VENDORS if vendor not in text] == [], file


def declared() -> list:
    """The short names of sources that the vendors' failures explain, by vendor."""
    return [
        (file.parent.name, name)
        for file in sorted((ROOT / "Fixtures").glob("*/failures.yaml"))
        for name in yaml.load(file.read_text(), yaml.CSafeLoader).get("sources", {})]


@pytest.mark.parametrize(("vendor", "name"), declared())
def test_the_page_of_sources_tells_every_name(vendor, name):
    page = (CATALOG / "Sources.md").read_text()
    chapter = next(part for part in page.split("\n## ") if part.split("\n")[0].lower() == vendor)
    assert f"\n| `{name}` |" in chapter
