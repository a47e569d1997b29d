"""Certificates made with the openssl command, all invented for one test and removed after it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

RSA = ["-newkey", "rsa:2048"]
EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
# Newer Python versions check strictly and require both identifiers.
IDENTIFIERS = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
AUTHORITY = f"basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n{IDENTIFIERS}"
SERVER = (
    "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
    f"subjectAltName=DNS:localhost,IP:127.0.0.1\n{IDENTIFIERS}")


def openssl(*arguments, text: str | None = None) -> str:
    command = ["openssl", *map(str, arguments)]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


@dataclass
class Certified:
    """A certificate and its key, each in a file."""

    certificate: Path
    key: Path


def certify(
    folder: Path, name: str, kind: list = EC, extensions: str = SERVER, issuer: Certified | None = None, *options,
) -> Certified:
    """A certificate from this issuer, or self-signed; the options go to the signing command."""
    made = Certified(folder / f"{name}.pem", folder / f"{name}.key")
    request, rules = folder / f"{name}.csr", folder / f"{name}.extensions"
    rules.write_text(extensions)
    subject = f"/CN=Understudy test {name}"
    openssl("req", "-new", *kind, "-nodes", "-subj", subject, "-keyout", made.key, "-out", request)
    signer = ["-signkey", made.key] if issuer is None else [
        "-CA", issuer.certificate, "-CAkey", issuer.key, "-CAcreateserial"]
    openssl("x509", "-req", "-in", request, "-extfile", rules, "-out", made.certificate, *signer, *options)
    return made


def joined(path: Path, *parts: Path) -> Path:
    """Concatenates files into one."""
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    return path
