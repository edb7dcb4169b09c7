#!/usr/bin/env python3
"""bench/run, which installs what it needs, starts on a machine that has nothing but Python. The last line reads "N passed, N failed"."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


# The part of bench/run that runs before it installs anything.
IMPORTS = """
import importlib, pathlib, sys
sys.path.insert(0, sys.argv[1])
for part in sorted(pathlib.Path(sys.argv[1], "parts").glob("*.py")):
    importlib.import_module("parts." + part.stem)
"""


def main():
    failed = 0
    for what, command in [("--help", [ROOT / "bench/run", "--help"]), ("its parts", ["-c", IMPORTS, ROOT / "bench"])]:
        # -S: without the distribution's packages, as on a machine that has none of them.
        done = subprocess.run([sys.executable, "-S", *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            failed += 1
            print(f"FAIL {what}: ended with {done.returncode}: {done.stderr}")
    print(f"{2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
