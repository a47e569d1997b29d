#!/usr/bin/env python3
"""Writes the software bill of materials of a release, as SPDX 2.3 in JSON; docker/package calls it.

It names each package file with its checksum, the program in it, the Swift packages that are linked into the program as
they were resolved, Swift's own libraries and SQLite, and the Debian packages whose libraries the program loads and the image has.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APACHE, EXCEPTION = "Version 2.0, January 2004", "Runtime Library Exception"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def identifier(text: str) -> str:
    """A text as SPDX allows it in an identifier."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def sha256(file: Path) -> list[dict]:
    return [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}]


def package(name: str, version: str | None, licence: str, **members) -> dict:
    made = {
        "SPDXID": identifier(f"Package-{name}"), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **members}
    return made | ({"versionInfo": version} if version else {})


def purl(locator: str) -> list[dict]:
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]


def licence_of(checkout: Path) -> str:
    """The licence by the words of its file; a wrong guess would be worse than none."""
    [file] = checkout.glob("LICENSE*")
    text = file.read_text()
    if APACHE in text:
        return "Apache-2.0 WITH Swift-exception" if EXCEPTION in text else "Apache-2.0"
    if "MIT License" in text and "Permission is hereby granted, free of charge" in text:
        return "MIT"
    sys.exit(f"sbom: {file} is a licence that this script does not know; name it in licence_of.")


def swift_packages() -> list[dict]:
    found = []
    for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
        location, state = pin["location"].removesuffix(".git"), pin["state"]
        name = location.rsplit("/", 1)[1]
        found.append(package(
            name, state.get("version", state["revision"]), licence_of(ROOT / ".build/checkouts" / name),
            downloadLocation=f"git+{location}@{state['revision']}",
            externalRefs=purl(f"pkg:swift/{location.removeprefix('https://')}@{state.get('version', state['revision'])}")))
    return found


def swift_runtime() -> dict:
    version = re.search(r"Swift version (\S+)", output("swift", "--version"))
    return package(
        "swift-runtime", version[1] if version else None, "Apache-2.0 WITH Swift-exception",
        comment="The libraries of the Swift toolchain that are linked into the program, FoundationEssentials among them.")


def archive(name: str, debian: str, licence: str) -> dict:
    """What is linked from the archive of a Debian package."""
    return package(
        name, output("dpkg-query", "--show", "--showformat", "${Version}", debian), licence,
        comment=f"Linked from the archive of the Debian package {debian}.")


def debian_package(name: str, system: dict[str, str]) -> dict:
    fields = output("dpkg-query", "--show", "--showformat", "${Version}|${Architecture}|${source:Package}", name)
    version, architecture, source = fields.split("|")
    return package(
        name, version, "NOASSERTION", sourceInfo=f"built from the Debian source package {source}",
        comment=f"Its licences are in /usr/share/doc/{name}/copyright, in the image too.",
        externalRefs=purl(
            f"pkg:deb/{system['ID']}/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}"
            f"?arch={architecture}&distro={system['ID']}-{system['VERSION_ID']}"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--version", required=True)
    options.add_argument("--commit", required=True, help="the commit of the sources; may be empty")
    options.add_argument("--program", required=True, type=Path)
    options.add_argument("--packages", required=True, type=Path, help="a file with a Debian package a line")
    options.add_argument("files", nargs=5, type=Path, help="the Debian package, the tarball, the image, the wheel, npm's tarball")
    asked = options.parse_args()
    system = dict(
        line.replace('"', "").split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)

    program = package(
        "understudy", asked.version, "Apache-2.0", checksums=sha256(asked.program), packageFileName="understudy",
        primaryPackagePurpose="APPLICATION", **({"sourceInfo": f"built from commit {asked.commit}"} if asked.commit else {}))
    linked = [
        *swift_packages(), swift_runtime(), archive("openssl", "libssl-dev", "Apache-2.0"),
        archive("sqlite", "libsqlite3-dev", "blessing")]
    yaml = package("libyaml", None, "MIT", comment="Its sources are a part of Yams, with changes.")
    installed = [debian_package(name, system) for name in asked.packages.read_text().split()]
    files = [
        package(
            file.name, asked.version, "NOASSERTION" if file.suffix == ".tar" else "Apache-2.0", checksums=sha256(file),
            packageFileName=file.name, primaryPackagePurpose="CONTAINER" if file.suffix == ".tar" else "ARCHIVE")
        for file in asked.files]

    relations = [("DOCUMENT", "DESCRIBES", file) for file in files]
    relations += [(file, "CONTAINS", program) for file in files]
    relations += [(program, "STATIC_LINK", each) for each in linked]
    relations += [(each, "CONTAINS", yaml) for each in linked if each["name"] == "Yams"]
    relations += [(files[2], "CONTAINS", each) for each in installed]
    # The program loads PostgreSQL's library when it is asked to keep states there, and that loads the others.
    relations += [(program, "DYNAMIC_LINK", each) for each in installed if each["name"] in ("libc6", "libpq5")]

    moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    everything = [*files, program, *linked, yaml, *installed]
    # A name of the document that no other content has.
    content = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"understudy-{asked.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/understudy-{asked.version}-{content}",
        "creationInfo": {
            "created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: docker-sbom.py-{asked.version}"]},
        "packages": everything,
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT" if first == "DOCUMENT" else first["SPDXID"],
                "relationshipType": kind, "relatedSpdxElement": second["SPDXID"],
            } for first, kind, second in relations],
    }, sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
