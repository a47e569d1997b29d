"""What `understudy init` writes, used as a newcomer would: its commands pasted, its tests run, its files edited."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from world import BINARY, ROOT, VENDORS

CLIENTS = ROOT / "Sources/Clients"
# The clients are on no registry: what is written depends on their folder, so no placeholder has to be replaced.
# pip asks PyPI for pytest and for what builds the package; npm and swift take the folder as it is.
COMMANDS = {"python": "pytest", "javascript": "node --test", "swift": "swift test"}


def init(folder: Path, *words: str) -> list[str]:
    """Writes into the folder, and returns the commands to paste."""
    done = subprocess.run([BINARY, "init", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files, _, after = done.stdout.partition("\nNext:\n")
    for line in files.splitlines():
        assert line.startswith(("wrote ", "There are files")), line
        assert line.startswith("There") or (folder / line.removeprefix("wrote ")).is_file(), line
    commands = [line.strip() for line in after.splitlines()]
    assert len(commands) == 2
    return commands


def paste(command: str, folder: Path) -> subprocess.CompletedProcess:
    # Nothing of the caller's environment: the program itself is named by the command.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UNDERSTUDY_")}
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=900, env=environment)


@pytest.mark.parametrize("language", COMMANDS)
def test_the_commands_that_it_prints_can_be_pasted(language, tmp_path):
    check, test = init(tmp_path, "my app", "--language", language)
    checked = paste(check, tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("read: rezolve/accounts.yaml, ") and "not read" not in checked.stdout
    assert COMMANDS[language] in test
    if language == "swift":
        # Where Tests/Clients/run builds the client, so that it is built once.
        test += f" --scratch-path '{ROOT}/.build/swift-client' -Xswiftc -warnings-as-errors"
    done = paste(test, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = {"python": r"\b1 passed", "javascript": r"(?m)^(# |ℹ )pass 1$", "swift": r"Test run with 1 test.* passed"}
    assert re.search(passed[language], done.stdout + done.stderr), done.stdout + done.stderr


def run_test(folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Runs a written test in Python with the client from its folder, which is quicker than to install it."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "understudy.plugin", "tests"], cwd=folder,
        capture_output=True, text=True, timeout=120, env={
            **os.environ, "PYTHONPATH": str(CLIENTS / "Python/src"), "UNDERSTUDY_BINARY": str(BINARY),
            "PYTHONDONTWRITEBYTECODE": "1", **variables})


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_first_test_of_each_vendor_passes_in_python(vendor, tmp_path):
    init(tmp_path, "--language", "python", "--vendor", vendor)
    done = run_test(tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_first_test_of_each_vendor_passes_in_javascript(vendor, tmp_path):
    init(tmp_path, "--language", "javascript", "--vendor", vendor)
    # As npm installs a folder.
    (tmp_path / "tests/node_modules").mkdir()
    (tmp_path / "tests/node_modules/understudy").symlink_to(CLIENTS / "JavaScript")
    done = subprocess.run(
        ["node", "--test", "tests/first-call.test.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, "UNDERSTUDY_BINARY": str(BINARY)})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file, old, new", [
    ("Fixtures/{}/failures/my-failures.yaml", "Back in a minute", "Back in an hour"),
    ("Fixtures/{}/scenarios/my-busy-backend.yaml", "call: 2", "call: 3"),
])
@pytest.mark.parametrize("vendor", ["rezolve", "okta"])
def test_the_first_test_fails_when_the_fixtures_say_something_else(vendor, file, old, new, tmp_path):
    init(tmp_path, "--language", "python", "--vendor", vendor)
    path = tmp_path / file.format(vendor)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    done = run_test(tmp_path)
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr


def test_a_server_starts_in_the_folder_with_its_configuration_and_its_fixtures(tmp_path):
    init(tmp_path, "--vendor", "ims", "--vendor", "comapi")
    ports = tmp_path / "ports"
    (tmp_path / "understudy.yaml").write_text(
        (tmp_path / "understudy.yaml").read_text().replace("# port-file: ports", "port-file: ports").replace("# port: 8080", "port: 0"))
    process = subprocess.Popen([BINARY, "serve"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = []
        while "Stop with Control-C." not in "".join(lines[-1:]):
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        said = "".join(lines)
        assert f"Fixtures: {tmp_path}/Fixtures, over " in said and "nobody reads" not in said
        assert ports.read_text().startswith("http ")
        tried = subprocess.run([BINARY, "try", "comapi"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "my-space" in tried.stdout, "the server is found by the configuration, and has the folder's accounts"
    finally:
        process.terminate()
        assert process.wait(15) == 0


def test_the_compose_file_mounts_what_is_there(tmp_path):
    import yaml
    init(tmp_path)
    compose = yaml.safe_load((tmp_path / "compose.yaml").read_text())
    [service] = compose["services"].values()
    for volume in service["volumes"]:
        source = volume.split(":")[0]
        assert source in compose["volumes"] or (tmp_path / source).exists(), volume
    # Where the image looks for them.
    image = (ROOT / "docker/Dockerfile").read_text()
    folder = re.search(r"(?m)^WORKDIR (/srv/\S+)$", image)[1]
    assert {volume.split(":")[1] for volume in service["volumes"] if volume.startswith("./")} == {
        f"{folder}/Fixtures", f"{folder}/understudy.yaml"}
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


VERSION = re.search(r'static let version = "(.+)"', (ROOT / "Sources/Understudy/Emulator.swift").read_text())[1]


@pytest.mark.parametrize("place", ["init", "docker/compose.yaml"])
def test_a_compose_file_names_the_packaged_image_and_loses_nothing_when_it_is_killed(place, tmp_path):
    import yaml
    if place == "init":
        init(tmp_path)
        place = tmp_path / "compose.yaml"
    compose = yaml.safe_load((ROOT / place).read_text())
    [service] = compose["services"].values()
    assert 'RepoTags: ["understudy:\\($version)"]' in (ROOT / "docker/package").read_text()
    assert service["image"].replace("${UNDERSTUDY_IMAGE:-", "").rstrip("}") == f"understudy:{VERSION}"
    # On a volume, and written while the server runs.
    state = service["environment"]["UNDERSTUDY_STATE"]
    kept = [target for source, target, *_ in (volume.split(":") for volume in service["volumes"]) if source in compose["volumes"]]
    assert [target for target in kept if state.startswith(f"{target}/")]
    assert not {"UNDERSTUDY_IMPORT", "UNDERSTUDY_EXPORT_ON_EXIT"} & set(service["environment"])


def test_the_service_loses_nothing_when_it_is_killed():
    unit = (ROOT / "docker/debian/understudy.service").read_text()
    assert "\nEnvironment=UNDERSTUDY_STATE=/var/lib/understudy/understudy.db\n" in unit and "\nStateDirectory=understudy\n" in unit
    assert "EXPORT_ON_EXIT" not in unit


def test_every_mention_of_the_image_is_of_this_version():
    files = [path for folder in ("docker", "Sources") for path in (ROOT / folder).rglob("*") if path.is_file() and not path.suffix == ".png"]
    found = {path: set(re.findall(r"\bunderstudy:(\d[\w.]*\w)", path.read_text(errors="ignore"))) for path in files}
    assert {path: versions for path, versions in found.items() if versions - {VERSION}} == {}
    assert len([path for path in found if found[path]]) >= 4


def test_the_tools_are_there():
    for tool in ("node", "npm", "swift"):
        assert shutil.which(tool), f"there is no {tool}; docker/bootstrap.sh ci installs tools"
