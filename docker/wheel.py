#!/usr/bin/env python3
"""Makes the wheel that has the program inside and no Python; docker/package calls it.

It installs a prefix of docker/prefix.sh below the environment: the program as the command `understudy`, with what lies beside it.
The program loads only libraries that each system of its platform tag has.
"""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

# What auditwheel takes for granted in each manylinux tag, of the libraries that a program of ours may name.
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux[-\w]*\.so\.\d+")


def objdump(option: str, file: Path) -> str:
    return subprocess.run(["objdump", option, file], check=True, capture_output=True, text=True).stdout


def platform(machine: str, program: Path) -> str:
    """The tag by auditwheel's rule: the newest version of glibc whose symbols the program needs."""
    for library in re.findall(r"^\s+NEEDED\s+(\S+)", objdump("--private-headers", program), re.M):
        if not SYSTEM.fullmatch(library):
            sys.exit(f"wheel: {program.name} loads {library}, which not every Linux has.")
    undefined = [line for line in objdump("--dynamic-syms", program).splitlines() if "*UND*" in line]
    found = [tuple(map(int, each.split("."))) for line in undefined for each in re.findall(r"\bGLIBC_([\d.]+)", line)]
    newest = max((2, 17), *(each[:2] for each in found))
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def contents(prefix: Path, name: str, version: str) -> "dict[str, Path]":
    """The files of the prefix by their places in the wheel."""
    placed = {}
    for file in sorted(path for path in prefix.rglob("*") if path.is_file()):
        place = file.relative_to(prefix)
        if place.parts[0] == "bin":
            placed[f"{name}-{version}.data/scripts/{place.name}"] = file
        elif place.parts[:3] == ("share", "doc", "understudy"):
            placed[f"{name}-{version}.dist-info/licenses/{'/'.join(place.parts[3:])}"] = file
        else:
            placed[f"{name}-{version}.data/data/{place}"] = file
    return placed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--version", required=True)
    options.add_argument("--machine", required=True, help="as uname -m says it")
    options.add_argument("--readme", required=True, type=Path, help="the description, in Markdown")
    options.add_argument("prefix", type=Path)
    options.add_argument("out", type=Path, help="the folder for the wheel, whose name is printed")
    asked = options.parse_args()

    name, version = "understudy_server", asked.version
    tag = f"py3-none-{platform(asked.machine, asked.prefix / 'bin/understudy')}"
    placed = contents(asked.prefix, name, version)
    information = f"{name}-{version}.dist-info"
    licences = [place.split("/licenses/", 1)[1] for place in placed if place.startswith(f"{information}/licenses/")]
    made = {place: file.read_bytes() for place, file in placed.items()}
    made[f"{information}/METADATA"] = "\n".join([
        "Metadata-Version: 2.4", "Name: understudy-server", f"Version: {version}",
        "Summary: Emulates the backends of mobile apps, for their developers and tests: the server as a program",
        "License-Expression: Apache-2.0", *(f"License-File: {each}" for each in licences), "Requires-Python: >=3.9",
        "Classifier: Operating System :: POSIX :: Linux", "Description-Content-Type: text/markdown", "",
        asked.readme.read_text()]).encode()
    made[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: docker-wheel.py {version}\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()
    record = f"{information}/RECORD"
    lines = [
        f"{place},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for place, content in made.items()]
    made[record] = "".join(f"{line}\n" for line in [*lines, f"{record},,"]).encode()

    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    wheel = asked.out / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # What describes the wheel stands at its end, where readers of archives look first.
        for place in sorted(made, key=lambda place: (place.startswith(information), place == record, place)):
            entry = zipfile.ZipInfo(place, moment)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if ".data/scripts/" in place else 0o100644) << 16
            archive.writestr(entry, made[place])
    print(wheel.name)


if __name__ == "__main__":
    main()
