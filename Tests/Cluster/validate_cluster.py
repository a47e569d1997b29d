"""Called by Tests/Cluster/validate, which says what it does."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import cluster_replicas  # noqa: E402
from cluster_files import check_compose, check_kubernetes, check_proxy  # noqa: E402
from cluster_proxies import CLUSTER, ROOT, program  # noqa: E402
from cluster_routes import Trial, run  # noqa: E402

PROXIES = ["haproxy", "nginx", "envoy"]


def run_replicas(binary: Path, proxies: list[str]) -> None:
    if not cluster_replicas.has_replicas(binary):
        print(f"replicas: skipped: there is no {binary} with --replica")
        return
    with tempfile.TemporaryDirectory(prefix="understudy-replicas-") as folder:
        try:
            lines = cluster_replicas.run(binary, proxies, Path(folder))
        except AssertionError as problem:
            raise SystemExit(f"FAILED: replicas: {problem}") from problem
    print("\n".join(f"replicas {line}" for line in lines), flush=True)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="leaves out the wait of a minute")
    options.add_argument(
        "--binary", type=Path, default=os.environ.get("UNDERSTUDY_BINARY") or ROOT / ".build/debug/understudy",
        help="the program that is run too")
    asked = options.parse_args()
    is_quick, binary = asked.quick, asked.binary.resolve()
    print(f"compose: {check_compose()}")
    print(f"kubernetes: {check_kubernetes()}")
    if kubectl := shutil.which("kubectl"):
        subprocess.run([kubectl, "kustomize", CLUSTER], check=True, capture_output=True)
        print("kustomize: takes kustomization.yaml")
    there = [name for name in PROXIES if program(name)]
    for name in PROXIES:
        print(f"{name}: {check_proxy(name)}" if name in there else f"{name}: skipped: it is not here", flush=True)
    with tempfile.TemporaryDirectory(prefix="understudy-cluster-") as folder:
        folders = {name: Path(folder) / name for name in there}
        for each in folders.values():
            each.mkdir()
        trials = [Trial(name, folders[name], has_active_checks=name != "nginx") for name in there]
        run(trials, is_quick, then=lambda: run_replicas(binary, there))
    print(f"All is well: Compose, Kubernetes, {', '.join(there)}")


main()
