#!/usr/bin/env python3
"""What docs/dashboard.json and docs/alerts.yml ask is asked: Prometheus, as it comes from Debian, scrapes a daemon at work and evaluates each expression.
    dashboard_in_prometheus.py build/release/tsdb
Each panel's expression has data, with the labels that its legend names, and shows the work that was done; each rule can be evaluated, and none is true of a
daemon that is well. The last line reads "N passed, N failed"."""
import json
import math
import re
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/real")]
sys.dont_write_bytecode = True
import daemon  # noqa: E402
import trial  # noqa: E402
from prometheus import Prometheus  # noqa: E402

PATIENCE_S = 60
CONFIGURATION = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files:
  - {rules}
scrape_configs:
  - job_name: hourglass
    static_configs:
      - targets: ["127.0.0.1:{port}"]
"""
# The values that Grafana fills in when all instances are chosen.
VARIABLES = {"$instance": ".+", "$__rate_interval": "20s"}
LABELS_OF = re.compile(r"label_values\((.+), (\w+)\)")
# The values that work() increases: a rate of zero would mean that the panel counts the wrong thing.
MOVES = ("hourglass_points_added_total", "hourglass_put_errors_total", "hourglass_rpc_received_total", "hourglass_queries_total",
         "hourglass_http_request_duration", "hourglass_query_scan_duration", "hourglass_storage_flushes_total",
         "hourglass_storage_flushed_bytes_total", "process_cpu_seconds_total", "hourglass_storage_series", "hourglass_storage_files{",
         "hourglass_ready", "hourglass_uid_ids_used", "process_resident_memory_bytes")


def asked(dashboard):
    """Returns (place, expression, labels that a result must have) of all panels and variables."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], re.findall(r"{{(\w+)}}", target.get("legendFormat", ""))
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            expression, label = LABELS_OF.fullmatch(variable["query"]["query"]).groups()
            yield f"variable {variable['name']}", expression, [label]


def work(server, number):
    """Writes points, one of them invalid, runs a query, and flushes."""
    point = {"metric": "m", "timestamp": 1700000000 + number, "value": number, "tags": {"host": f"h{number}"}}
    for value, status in ((number, 204), ("no number", 400)):
        connection = server.connection()
        connection.request("POST", "/api/put", json.dumps({**point, "value": value}))
        answered = connection.getresponse().status
        connection.close()
        if answered != status:
            raise RuntimeError(f"a point of {value} was answered with {answered}")
    server.ask("POST", "/api/admin/flush", None, 60)
    server.query(1700000000, "none:m", 1700009999)


def faults(prometheus, dashboard):
    at = time.time()
    for where, text, labels in asked(dashboard):
        expression = text
        for name, value in VARIABLES.items():
            expression = expression.replace(name, value)
        if "$" in expression:
            yield f"{where}: nobody fills in {expression}"
            continue
        try:
            found = prometheus.query(expression, at)
        except RuntimeError as error:
            yield f"{where}: {error}"
            continue
        values = [float(series["value"][1]) for series in found]
        if not values or all(math.isnan(value) for value in values):
            yield f"{where}: {expression} has no data"
        elif any(name in text for name in MOVES) and not max(value for value in values if not math.isnan(value)) > 0:
            yield f"{where}: {expression} is {values} of a daemon at work"
        for label in labels:
            if not all(label in series["metric"] for series in found):
                yield f"{where}: {expression} has no label {label}, which its legend shows"


def rule_faults(prometheus):
    with urllib.request.urlopen(f"http://127.0.0.1:{prometheus.port}/api/v1/rules", timeout=30) as answer:
        rules = [rule for group in json.load(answer)["data"]["groups"] for rule in group["rules"]]
    if not rules:
        yield "there are no rules"
    for rule in rules:
        if rule["health"] != "ok":
            yield f"{rule['name']} is {rule['health']}: {rule.get('lastError', 'not evaluated yet')}"
        elif rule["state"] != "inactive":
            yield f"{rule['name']} is {rule['state']} of a daemon that is well"


def settled(server, prometheus, dashboard):
    """Returns what is wrong after some work; at first there are not yet two scrapes from which to compute a rate."""
    until, number = time.monotonic() + PATIENCE_S, 0
    while True:
        work(server, number)
        wrong = [*faults(prometheus, dashboard), *rule_faults(prometheus)]
        if not wrong or time.monotonic() > until:
            return wrong
        number += 1
        time.sleep(0.3)


def panel(expression, legend=""):
    return {"title": "canary", "targets": [{"expr": expression, "legendFormat": legend}]}


def main():
    dashboard = json.loads((ROOT / "docs/dashboard.json").read_text())
    # A test of this check: no PromQL, no data, no label, no variable; 0 where a value should change.
    canaries = [panel("sum by hourglass_ready"), panel("hourglass_nothing"), panel("hourglass_ready", "{{none}}"), panel("hourglass_ready{a='$b'}"),
                panel("0 * hourglass_ready")]
    with tempfile.TemporaryDirectory() as name:
        server = daemon.Daemon(sys.argv[1], name)
        server.start()
        trials = trial.Trial(server, name, 0, None)
        try:
            prometheus = Prometheus(trials, "prometheus", CONFIGURATION.format(rules=ROOT / "docs/alerts.yml", port=server.port))
            wrong = settled(server, prometheus, dashboard)
            found = list(faults(prometheus, {"panels": canaries, "templating": {"list": []}}))
            if len(found) != len(canaries):
                wrong.append(f"the canaries live: {found}")
        finally:
            trials.end()
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(list(asked(dashboard)))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
