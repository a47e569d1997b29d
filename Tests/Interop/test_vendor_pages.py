"""Holds the vendors' pages of the documentation against the program they are about."""

import re

import pytest
import yaml
from pages import CATALOG, COMMAND, PAGES, SECTION, filled
from world import ROOT

VENDORS = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)

# What a reader of each page is promised; `rules` and `tokens` come on top, by the tokens a vendor has.
PROMISED = {"routes", "failures", "switches", "actions", "scenarios", "tokens"}

# The names in the first column of a table.
NAMES = re.compile(r"^\| `([^`]+)`", re.M)


@VENDORS
def test_a_page_says_what_the_program_prints(path):
    page = path.read_text()
    assert page == filled(page, PAGES[path]), f"update the page with: {COMMAND}"


@VENDORS
def test_a_page_has_every_section(path):
    names = [name for _, name, _ in SECTION.findall(path.read_text())]
    assert len(names) == len(set(names))
    assert PROMISED <= set(names)
    assert any(name.startswith("rules ") for name in names)


@VENDORS
def test_a_page_names_only_what_exists(path):
    page, vendor = path.read_text(), PAGES[path]
    prose = SECTION.sub("", page)
    listed = {section[2]: NAMES.findall(section[0]) for section in SECTION.finditer(page)}
    switches = re.findall(rf"(?:[Ss]witch `|`{vendor}\.)([a-z-]+)[`=]", prose)
    assert switches
    assert {f"{vendor}.{name}" for name in switches} - set(listed["switches"]) == set()
    assert set(re.findall(r"[Aa]ction `([a-z-]+)`", prose)) - set(listed["actions"]) == set()
    assert set(re.findall(r"[Ss]cenario `([a-z-]+)`", prose)) - set(listed["scenarios"]) == set()


def declared() -> list:
    """The short names of sources that the vendors' failures explain, by vendor."""
    return [
        (file.parent.name, name)
        for file in sorted((ROOT / "Fixtures").glob("*/failures.yaml"))
        for name in yaml.safe_load(file.read_text()).get("sources", {})]


@pytest.mark.parametrize(("vendor", "name"), declared())
def test_the_page_of_sources_tells_every_name(vendor, name):
    page = (CATALOG / "Sources.md").read_text()
    chapter = next(part for part in page.split("\n## ") if part.split("\n")[0].lower() == vendor)
    assert f"\n| `{name}` |" in chapter
