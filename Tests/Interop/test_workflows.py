"""GitHub's workflows, which nothing here can run: what can be judged without."""

import re
import subprocess

import pytest
import yaml
from world import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
STEPS = [
    pytest.param(step, id=f"{file.stem}-{job}-{number}")
    for file in WORKFLOWS for job, members in yaml.safe_load(file.read_text())["jobs"].items()
    for number, step in enumerate(members["steps"])]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_pinned_and_runs_what_is_there(step):
    if "uses" in step:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), "a tag may be moved; expected a commit"
        return
    # GitHub fills its expressions in before the shell reads the script; in a script they are injections, if not of a constant.
    script = step["run"]
    assert set(re.findall(r"\$\{\{ *(.*?) *\}\}", script)) <= {"matrix.machine"}
    subprocess.run(["bash", "-n"], input=re.sub(r"\$\{\{.*?\}\}", "x", script), text=True, check=True)
    for program in re.findall(r"^\s*((?:docker|Tests|\.ci)/\S+)", script, re.M):
        assert (ROOT / program).stat().st_mode & 0o100, f"{program} is not a program"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_runners_and_images_have_a_version(file):
    text = file.read_text()
    assert re.findall(r"-latest\b", text) == []
    for image in re.findall(r"^ *image: (\S+)", text, re.M):
        assert re.fullmatch(r"swift:\d+\.\d+\.\d+-\w+", image), image


def test_the_notes_of_a_release_are_its_part_of_the_changelog(tmp_path):
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        "# Changelog\n\n## [Unreleased] - 0.3.0\n\n- Later.\n\n## [0.2.0] - 2026-11-27\n\nIn\nshort.\n\n### Added\n\n"
        "- One that is\n  long.\n- Two.\n\n## [0.1.0] - 2026-11-22\n\n- Old.\n")
    notes = ROOT / "docker/release-notes.sh"
    made = subprocess.run([notes, "0.2.0", changes], check=True, capture_output=True, text=True).stdout
    assert made.strip() == "In short.\n\n### Added\n\n- One that is long.\n- Two."
    missing = subprocess.run([notes, "0.3.0", changes], check=False, capture_output=True, text=True)
    assert missing.returncode == 1 and "no heading ## [0.3.0] - DAY; it has: ## [Unreleased] - 0.3.0 ## [0.2.0]" in missing.stderr
