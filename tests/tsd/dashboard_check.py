#!/usr/bin/env python3
"""docs/dashboard.json and docs/alerts.yml name what a daemon shows at /metrics, and nothing else; promtool takes the rules, and the
alert about new series says what takes the memory.
    dashboard_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

NAME = re.compile(r"\b(?:hourglass|process)_[a-z0-9_]+")
LABEL_OF = re.compile(r"\b(hourglass_[a-z_]+)\{[^}]*?\b([a-z]+)=\"([^\"$]+)\"")
# A daemon shows these only if it uses HBase; they are in http/api/metric_names.cc.
ELSEWHERE = re.compile(r"hourglass_hbase_")


def shown(tsdb):
    """Returns {names of samples} and the lines of /metrics."""
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(tsdb, folder)
        server.start()
        try:
            text = server.text("/metrics")
        finally:
            server.stop()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {re.split(r"[{ ]", line)[0] for line in lines}, lines


def expressions(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def faults(dashboard, rules, names, lines, table):
    for place, text in [*(("the dashboard", text) for text in expressions(dashboard)), ("the rules", rules)]:
        for name in NAME.findall(text):
            known = name in table if ELSEWHERE.match(name) else name in names
            if not known:
                yield f"{place} names {name}, which no daemon shows"
        for name, label, value in LABEL_OF.findall(text):
            if not any(line.startswith(name) and f'{label}="{value}"' in line for line in lines):
                yield f'{place} names {name} with {label}="{value}", which no daemon shows'
    boxes = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [(x, y) for box in boxes for x in range(box["x"], box["x"] + box["w"]) for y in range(box["y"], box["y"] + box["h"])]
    if len(cells) != len(set(cells)) or any(x >= 24 for x, _ in cells):
        yield "panels lie over each other or beside the page"
    if len({panel["id"] for panel in dashboard["panels"]}) != len(dashboard["panels"]):
        yield "two panels have one id"


MEMORY = {"hourglass_storage_memory_bytes": 1, "hourglass_storage_registry_bytes": 2, "hourglass_storage_names_bytes": 3,
          "hourglass_storage_files_memory_bytes": 4, "hourglass_storage_memory_limit_bytes": 10, "hourglass_query_memory_bytes": 5}
TOLD = ("Unflushed points take 1MiB, series 2MiB, names 3MiB and indexes of files 4MiB of 10MiB. Queries take 5MiB of their own.")


def told_of_full_memory():
    """What promtool says against the alert of a daemon without memory for new series; "" if it is as it should be."""
    series = [{"series": f'{name}{{instance="a:1"}}', "values": f"{value << 20}x10"} for name, value in MEMORY.items()]
    series.append({"series": 'hourglass_storage_series_full{instance="a:1"}', "values": "1x10"})
    summary = "a:1 refuses new series and names because their memory is full"
    test = {"rule_files": [str(ROOT / "docs/alerts.yml")],
            "tests": [{"interval": "1m", "input_series": series,
                       "alert_rule_test": [{"eval_time": "6m", "alertname": "HourglassRefusesNewSeries", "exp_alerts": [
                           {"exp_labels": {"severity": "critical", "instance": "a:1"},
                            "exp_annotations": {"summary": summary, "description": TOLD}}]}]}]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.yml"
        path.write_text(json.dumps(test))
        said = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, check=False)
    return "" if said.returncode == 0 else said.stdout + said.stderr


def main():
    dashboard = json.loads((ROOT / "docs/dashboard.json").read_text())
    rules = (ROOT / "docs/alerts.yml").read_text()
    table = (ROOT / "http/api/metric_names.cc").read_text()
    names, lines = shown(sys.argv[1])
    wrong = list(faults(dashboard, rules, names, lines, table))
    said = subprocess.run(["promtool", "check", "rules", ROOT / "docs/alerts.yml"], capture_output=True, text=True,
                          check=False)
    if said.returncode != 0:
        wrong.append(f"promtool: {said.stdout}{said.stderr}")
    if said := told_of_full_memory():
        wrong.append(f"promtool: {said}")
    # A test of this check: a name and a label that the daemon does not show, and overlapping panels with the same id.
    box = {"id": 1, "gridPos": {"h": 1, "w": 1, "x": 0, "y": 0}}
    canary = list(faults({"panels": [{**box, "targets": [{"expr": "hourglass_nothing"}]}, box],
                          "templating": {"list": []}}, 'hourglass_ready{a="b"} hourglass_hbase_nothing', names, lines, table))
    if len(canary) != 5:
        wrong.append(f"the canaries live: {canary}")
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(dashboard['panels'])} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
