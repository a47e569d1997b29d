"""The clients' tests: `sandbox` and `understudy` are the fixtures of the plugin under test."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The browser is driven as it is there.
sys.path.append(str(ROOT / "Tests/Interop"))

pytest_plugins = ["pytester"]
