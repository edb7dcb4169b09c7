#!/usr/bin/env python3
"""promtool has nothing to say against what a daemon shows at /metrics, and every number of /api/stats has its name there,
those too that only a daemon over HBase shows.
    metrics_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import statistics_doc  # noqa: E402

UNNAMED = re.compile(r"^# TYPE (\S+) untyped$", re.MULTILINE)


def promtool_says(text):
    """The findings of `promtool check metrics`; "" if there are none."""
    found = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    return (found.stdout + found.stderr).strip() or ("" if found.returncode == 0 else f"exit status {found.returncode}")


def faults(answers):
    text = answers["/metrics"]
    if said := promtool_says(text):
        yield f"promtool: {said}"
    for name in UNNAMED.findall(text):
        yield f"{name} is a number of /api/stats without a name in http/api/metric_names.cc"
    for line in ("hourglass_points_added_total{type=\"all\"} 1", "hourglass_storage_series 1",
                 "hourglass_queries_total{result=\"success\"} 1", "hourglass_ready 1"):
        if line not in text.splitlines():
            yield f"there is no line {line}"
    if answers["/healthz"] != "ok\n" or answers["/readyz"] != "ready\n":
        yield f"health and readiness are {answers['/healthz']!r} and {answers['/readyz']!r}"


def without_name(listed, table):
    """Names in docs/statistics.md that http/api/metric_names.cc does not know."""
    for name in listed:
        if f'{{"{name}", ' not in table:
            yield f"{name} of docs/statistics.md is not in http/api/metric_names.cc"


def main():
    if shutil.which("promtool") is None:
        print("FAIL there is no promtool: setup/install test brings it\n0 passed, 1 failed")
        return 1
    answers = statistics_doc.after_work(
        sys.argv[1], lambda server: {path: server.text(path) for path in ("/metrics", "/healthz", "/readyz")})
    listed = statistics_doc.told((ROOT / "docs/statistics.md").read_text())
    wrong = [*faults(answers), *without_name(listed, (ROOT / "http/api/metric_names.cc").read_text())]
    # A test of this check: a counter without _total, unknown names, three missing lines, and no answer.
    canary = list(without_name(["a.b"], '{"a.bc", "", '))
    canary += list(faults({"/metrics": "# HELP a b\n# TYPE a counter\na 1\n# HELP c d\n# TYPE c untyped\nc 1\n"
                                      "hourglass_ready 1\n", "/healthz": "", "/readyz": ""}))
    if len(canary) != 7:
        wrong.append(f"the canaries live: {canary}")
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(answers['/metrics'].splitlines())} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
