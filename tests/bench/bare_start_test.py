#!/usr/bin/env python3
"""bench/run, which installs what it needs, starts on a machine that has nothing but Python. The last line reads "N passed, N failed"."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    # Without the packages of the distribution: as on a machine that has none of them.
    done = subprocess.run([sys.executable, "-I", "-S", ROOT / "bench/run", "--help"], capture_output=True, text=True, check=False)
    passed = done.returncode == 0 and "usage: run" in done.stdout
    if not passed:
        print(f"FAIL bench/run --help ended with {done.returncode}: {done.stderr}")
    print(f"{int(passed)} passed, {int(not passed)} failed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
