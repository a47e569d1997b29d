"""Called by Tests/Cluster/validate, which says what it does."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from cluster_files import check_compose, check_kubernetes, check_proxy  # noqa: E402
from cluster_proxies import CLUSTER, program  # noqa: E402
from cluster_routes import Trial, run  # noqa: E402

PROXIES = ["haproxy", "nginx", "envoy"]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="leaves out the wait of a minute")
    is_quick = options.parse_args().quick
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
        run([Trial(name, folders[name], has_active_checks=name != "nginx") for name in there], is_quick)
    print(f"All is well: Compose, Kubernetes, {', '.join(there)}")


main()
