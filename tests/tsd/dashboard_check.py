#!/usr/bin/env python3
"""docs/dashboard.json and docs/alerts.yml name only metrics that a daemon exports at /metrics. promtool accepts the rules.
The alert about new series says what takes the memory. The alerts about disk space, backups and certificates fire at their
limits and not before. docs/operations.md lists each alert with its severity.
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
import statistics_doc  # noqa: E402

NAME = re.compile(r"\b(?:hourglass|process)_[a-z0-9_]+")
LABEL_OF = re.compile(r"\b(hourglass_[a-z_]+)\{[^}]*?\b([a-z]+)=\"([^\"$]+)\"")
# A daemon shows these only if it uses HBase; they are in http/api/metric_names.cc.
ELSEWHERE = re.compile(r"hourglass_hbase_")


def shown(tsdb):
    """Returns {names of samples} and the lines of /metrics."""
    text = statistics_doc.after_work(tsdb, lambda server: server.text("/metrics"))
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


FULL = "a:1 refuses new series and names because their memory is full"
SERIES_REFUSED = {
    "interval": "1m",
    "input_series": [
        *({"series": f'{name}{{instance="a:1"}}', "values": f"{value << 20}x10"} for name, value in MEMORY.items()),
        {"series": 'hourglass_storage_series_full{instance="a:1"}', "values": "1x10"}],
    "alert_rule_test": [{"eval_time": "6m", "alertname": "HourglassRefusesNewSeries", "exp_alerts": [
        {"exp_labels": {"severity": "critical", "instance": "a:1"}, "exp_annotations": {"summary": FULL, "description": TOLD}}]}]}


def at_limit(series, alerts):
    """A promtool test: series = {sample: one value for every 5 minutes}, alerts = {(hour, name): (labels, summary), or None if it is silent}."""
    return {"interval": "5m", "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [{"eval_time": f"{hour}h", "alertname": name, "exp_alerts": expected and [
                {"exp_labels": {"instance": "a:1", **expected[0]}, "exp_annotations": {"summary": "a:1: " + expected[1]}}] or []}
                                for (hour, name), expected in alerts.items()]}


DISK = 'instance="a:1", mountpoint="/", fstype="ext4"'
ON_DISK = {"mountpoint": "/", "fstype": "ext4"}
TEXTFILE = 'instance="a:1", file="/var/lib/node/hourglass-backup.prom"'
OF_TEXTFILE = {"file": "/var/lib/node/hourglass-backup.prom"}
TLS = 'instance="a:1", job="hourglass-tls"'
OF_TLS = {"job": "hourglass-tls"}
WARNING, CRITICAL = {"severity": "warning"}, {"severity": "critical"}
HOST = [
    # Free: 20 % in the first hour, 19 % for two hours, 5 % for one, 4 % for two. A full tmpfs is not reported.
    at_limit({f"node_filesystem_avail_bytes{{{DISK}}}": "20x11 19x23 5x11 4x23", f"node_filesystem_size_bytes{{{DISK}}}": "100x72",
              'node_filesystem_avail_bytes{instance="a:1", mountpoint="/run", fstype="tmpfs"}': "0x72",
              'node_filesystem_size_bytes{instance="a:1", mountpoint="/run", fstype="tmpfs"}': "100x72"},
             {(0, "HourglassDiskSpaceLow"): None,
              (2, "HourglassDiskSpaceLow"): ({**WARNING, **ON_DISK}, "19% of the file system / are free"),
              (3, "HourglassDiskAlmostFull"): None,
              (5, "HourglassDiskAlmostFull"): ({**CRITICAL, **ON_DISK}, "4% of the file system / are free")}),
    # A backup at 0 h, the beginning of promtool's time, and none after it.
    at_limit({f"node_textfile_mtime_seconds{{{TEXTFILE}}}": "0x2400"},
             {(36, "HourglassBackupOld"): None,
              (37, "HourglassBackupOld"): ({**WARNING, **OF_TEXTFILE}, "the last successful backup ended 1d 13h 0m 0s ago"),
              (168, "HourglassBackupVeryOld"): None,
              (169, "HourglassBackupVeryOld"): ({**CRITICAL, **OF_TEXTFILE}, "the last successful backup ended 7d 1h 0m 0s ago")}),
    # A certificate that expires at 400 h: 14 days before is 64 h, two days before is 352 h.
    at_limit({f"probe_ssl_earliest_cert_expiry{{{TLS}}}": f"{400 * 3600}x4800"},
             {(64, "HourglassCertificateExpires"): None,
              (66, "HourglassCertificateExpires"): ({**WARNING, **OF_TLS}, "a TLS certificate expires in 13d 22h 0m 0s"),
              (352, "HourglassCertificateExpiresSoon"): None,
              (354, "HourglassCertificateExpiresSoon"): ({**CRITICAL, **OF_TLS}, "a TLS certificate expires in 1d 22h 0m 0s")})]


# Of the queries, 10 % fail in the first hour, and 4 % in the next two hours.
QUERIES_FAIL = {
    "interval": "1m",
    "input_series": [{"series": 'hourglass_queries_total{instance="a:1", result="failed"}', "values": "0+6x60 362+2x120"},
                     {"series": 'hourglass_queries_total{instance="a:1", result="success"}', "values": "0+54x60 3288+48x120"},
                     {"series": 'hourglass_query_memory_bytes{instance="a:1"}', "values": f"{7 << 20}x180"},
                     {"series": 'hourglass_query_memory_limit_bytes{instance="a:1"}', "values": f"{8 << 20}x180"}],
    "alert_rule_test": [
        {"eval_time": "55m", "alertname": "HourglassQueriesFail", "exp_alerts": [
            {"exp_labels": {"instance": "a:1", "severity": "warning"},
             "exp_annotations": {"summary": "a:1: more than 5 % of the queries fail", "description": "Queries take 7MiB of 8MiB of memory."}}]},
        {"eval_time": "170m", "alertname": "HourglassQueriesFail", "exp_alerts": []}]}


def differences(tests):
    """What promtool reports when it evaluates the rules on the given series; "" if all alerts are as expected."""
    test = {"rule_files": [str(ROOT / "docs/alerts.yml")], "tests": tests}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.yml"
        path.write_text(json.dumps(test))
        said = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, check=False)
    return "" if said.returncode == 0 else said.stdout + said.stderr


def unlisted(rules, page):
    """The alerts that have no row with their severity in the table of the page."""
    for alert, severity in re.findall(r"- alert: (\w+).*?severity: (\w+)", rules, re.DOTALL):
        if not re.search(rf"^\|.*`{alert}`.*\| {severity} \|", page, re.MULTILINE):
            yield f"docs/operations.md does not list {alert} as {severity}"


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
    if said := differences([SERIES_REFUSED, QUERIES_FAIL, *HOST]):
        wrong.append(f"promtool: {said}")
    page = (ROOT / "docs/operations.md").read_text()
    wrong += unlisted(rules, page)
    # A test of this check: a name and a label that the daemon does not show, and overlapping panels with the same id.
    box = {"id": 1, "gridPos": {"h": 1, "w": 1, "x": 0, "y": 0}}
    canary = list(faults({"panels": [{**box, "targets": [{"expr": "hourglass_nothing"}]}, box],
                          "templating": {"list": []}}, 'hourglass_ready{a="b"} hourglass_hbase_nothing', names, lines, table))
    canary += unlisted("- alert: HourglassDown\n severity: warning", page)
    if len(canary) != 6:
        wrong.append(f"the canaries live: {canary}")
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(dashboard['panels'])} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
