#!/usr/bin/env python3
"""Within the machine that tests/setup/hardened_unit booted: the service that the package brought is asked, reloaded, killed,
upgraded and stopped, and what its sandbox forbids is tried. The last line reads "N passed, N failed"."""
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.parse
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
for room in ("support", "fault", "tsd"):
    sys.path.insert(0, str(TESTS / room))
import kill_rounds  # noqa: E402
import replace_rounds  # noqa: E402
from checks import Checks, waited  # noqa: E402
from daemon import Daemon, Refused  # noqa: E402
from guarded_daemon import make_certificate  # noqa: E402

PORT, TLS_PORT = 4242, 4243
UNIT = Path("/lib/systemd/system/hourglass.service")
DROP_INS = Path("/etc/systemd/system/hourglass.service.d")
CONFIG = Path("/etc/hourglass/hourglass.conf")
DATA = Path("/var/lib/hourglass")
CERTIFICATES = Path("/etc/hourglass/tls")
FIRST = 1_700_000_000
SERIES = 200
# What even root without a sandbox may not do on some machines.
MAY_BE_REFUSED_OUTSIDE = {"set what the kernel does"}

check = Checks()


def run(*words, user=None):
    """(exit status, what it said)"""
    done = subprocess.run([*(("runuser", "-u", user, "--") if user else ()), *map(str, words)], capture_output=True, text=True,
                          timeout=300, cwd="/", check=False)
    return done.returncode, done.stdout + done.stderr


def good(*words, **how):
    status, said = run(*words, **how)
    check.must(status == 0, f"{' '.join(map(str, words))} ended with {status}: {said[-800:]}")
    return said


def shown(name):
    return good("systemctl", "show", "--value", "-p", name, "hourglass").strip()


def ready():
    try:
        return service.text("/readyz")
    except (Refused, OSError) as error:
        return str(error)


def is_ready(what):
    check.demand(waited(ready, "ready\n") == "ready\n" and shown("ActiveState") == "active", what)


def drop_in(name, text):
    DROP_INS.mkdir(exist_ok=True)
    (DROP_INS / f"{name}.conf").write_text("[Service]\n" + text)
    good("systemctl", "daemon-reload")


def settings(**more):
    lines = "".join(f"tsd.{key.replace('__', '.')} = {value}\n" for key, value in more.items())
    CONFIG.write_text(CONFIG.read_text() + lines)


class Service(Daemon):
    """The system's daemon, asked as the others are."""

    def __init__(self):
        super().__init__("/usr/bin/tsdb", "/run")
        self.port = PORT


service = Service()


def put(points):
    connection = service.connection()
    connection.request("POST", "/api/put", json.dumps(points))
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    check(f"{len(points)} points are put", (answer.status, said), (204, b""))


def status_line():
    text = Path(f"/proc/{shown('MainPID')}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def process_is_confined():
    told = status_line()
    uid = good("id", "-u", "hourglass").strip()
    check("it runs as its user", set(told["Uid"].split()), {uid})
    check("no new privileges", told["NoNewPrivs"], "1")
    check("system calls are filtered", told["Seccomp"], "2")
    for kind in ("CapBnd", "CapEff", "CapPrm", "CapAmb", "CapInh"):
        check(f"it has no capability ({kind})", int(told[kind], 16), 0)
    check("its files are its own", told["Umask"], "0027")
    mounts = {}
    for line in Path(f"/proc/{shown('MainPID')}/mountinfo").read_text().splitlines():
        cells = line.split()
        mounts[cells[4]] = cells[5].split(",")
    check("all is read-only", "ro" in mounts["/"], True)
    check("but its data", "rw" in mounts[str(DATA)], True)
    check.demand({"/tmp", "/dev"} <= set(mounts), f"the process has no capabilities, {told['Seccomp_filters']} filters of system calls, "
                 "and folders of its own")


def probed(name, sandboxed):
    """The probe's outcomes in a unit with the sandbox of the service's, or with none of it."""
    text = UNIT.read_text()
    lines = [line for line in text.splitlines() if not re.match(r"(Type|NotifyAccess|Exec\w+|Restart\w*|WantedBy|After|Wants|Documentation)=", line)]
    if not sandboxed:
        kept = ("[", "StateDirectory", "WorkingDirectory")
        lines = [line for line in lines if line.startswith(kept)]
    lines.insert(lines.index("[Service]") + 1, f"Type=oneshot\nExecStart=/usr/bin/python3 -B {TESTS}/setup/unit_probe.py {DATA}")
    Path(f"/run/systemd/system/{name}.service").write_text("\n".join(lines) + "\n")
    good("systemctl", "daemon-reload")
    good("systemctl", "start", name)
    good("journalctl", "--sync")
    said = good("journalctl", "--no-pager", "-o", "cat", "-u", name)
    return json.loads(next(line for line in said.splitlines() if line.startswith("{")))


def sandbox_refuses():
    inside, outside = probed("probe-inside", True), probed("probe-outside", False)
    for name, outcome in inside.items():
        check(f"in the sandbox: {name}", outcome == "let", False)
        if name not in MAY_BE_REFUSED_OUTSIDE:
            check(f"the canary, without it: {name}", outside[name], "let")
    print("refused in the sandbox: " + ", ".join(f"{name} ({outcome})" for name, outcome in inside.items()))


def serves_all():
    """What a daemon does: each language, queries of each kind, plots, its background threads' work."""
    put([{"metric": "unit_cpu", "timestamp": FIRST + 60 * minute, "value": number + minute, "tags": {"host": f"web{number}"}}
         for number in range(SERIES) for minute in range(3)])
    with service.raw() as lines:
        lines.sendall(f"put unit_lines {FIRST} 7 host=web1\nversion\nexit\n".encode())
        said = b""
        while piece := lines.recv(65536):
            said += piece
    check.demand(b"net.opentsdb" in said, "lines are served")

    def dps(expression, start=FIRST, end=FIRST + 3600):
        return [part["dps"] for part in service.query(start, expression, end)]

    check("a line's point is found", dps("sum:unit_lines"), [{str(FIRST): 7}])
    check("points are added up", dps("sum:unit_cpu")[0][str(FIRST)], sum(range(SERIES)))

    def chosen(metric, pattern):
        """The sum of the first points of the series whose host matches; of none: nothing."""
        document = {"start": FIRST, "end": FIRST + 1, "queries": [{"metric": metric, "aggregator": "sum", "filters": [
            {"type": "regexp", "tagk": "host", "filter": pattern, "groupBy": False}]}]}
        return [part["dps"][str(FIRST)] for part in service.post("/api/query", document)]

    check("a regular expression chooses", chosen("unit_cpu", r"^web1\d\d$"), [sum(range(100, 200))])
    check("one of classes, looking ahead", chosen("unit_cpu", r"web(?=[1-3&&[^2]]$)\w+"), [1 + 3])
    put([{"metric": "unit_long", "timestamp": FIRST, "value": 1, "tags": {"host": "a" * 60 + "-"}}])
    try:
        said = str(chosen("unit_long", "^(a|aa)+$"))
    except Refused as refusal:
        said = str(refusal)
    check("one that explodes ends its query with an error that names it", "takes too many steps" in said, True)
    check("one that does not finds it", chosen("unit_long", "^(a|aa)+-$"), [1])
    runnable = re.findall(r"^\S+ rwx.*", Path(f"/proc/{shown('MainPID')}/maps").read_text(), re.MULTILINE)
    check("no memory is both written and run", runnable, [])
    print("regular expressions choose, and end", flush=True)

    ask = urllib.parse.urlencode({"query": 'sum(unit_cpu{host=~"web1.*"})', "time": FIRST + 60})
    value = service.get(f"/api/v1/query?{ask}")["data"]["result"][0]["value"][1]
    check("PromQL answers", float(value), float(sum(number + 1 for number in range(SERIES) if str(number).startswith("1"))))
    connection = service.connection()
    connection.request("POST", "/api/histogram", json.dumps({"metric": "unit_wait", "timestamp": FIRST, "buckets": {"0,10": 5, "10,60": 1},
                                                             "tags": {"host": "web1"}}))
    check("a histogram is put", connection.getresponse().status, 204)
    connection.close()
    check("and its percentile found", dps("sum:percentiles[50]:unit_wait"), [{str(FIRST): 5.0}])
    plot = service.ask("GET", f"/q?start={FIRST}&end={FIRST + 3600}&m=sum:unit_cpu&png", None, 60)
    check("a plot is drawn", plot[:4], b"\x89PNG")
    for action in ("flush", "compact"):
        good("tsdb", "admin", action, "tsdb", user="hourglass")
    check("flushed and merged it is found", dps("sum:unit_cpu")[0][str(FIRST)], sum(range(SERIES)))
    print("PromQL, histograms, plots, flushes and merges work", flush=True)


def tools_by_user():
    words = ("tsdb", "query", f"--config={CONFIG}", FIRST, FIRST + 3600, "sum", "unit_lines")
    for user in ("hourglass", "root"):
        check.demand(f"unit_lines {FIRST}000 7" in good(*words, user=user), f"a tool of {user} reads beside the daemon")
    status, said = run(*words, user="nobody")
    check.demand(status != 0 and "ermission" in said, f"one of nobody is refused: {said.strip()[-200:]}")
    points = Path("/srv/points")
    points.write_text(f"unit_import {FIRST} 3 host=a\n")
    good("tsdb", "import", f"--config={CONFIG}", points, user="hourglass")
    check("an imported point is found at once", service.query(FIRST, "sum:unit_import", FIRST + 60)[0]["dps"], {str(FIRST): 3})


def backups_need_room():
    os.mkdir("/srv/backup")
    shutil.chown("/srv/backup", "hourglass", "hourglass")
    status, said = run("tsdb", "backup", "/srv/backup/a", f"--config={CONFIG}", user="hourglass")
    check.demand(status == 1 and "/srv/backup" in said, f"a backup to where the unit may not write is refused: {said.strip()[-300:]}")
    drop_in("backup", "ReadWritePaths=/srv/backup\n")
    good("systemctl", "restart", "hourglass")
    is_ready("with ReadWritePaths= it starts")
    good("tsdb", "backup", "/srv/backup/a", f"--config={CONFIG}", user="hourglass")
    good("tsdb", "check", "/srv/backup/a", user="hourglass")
    good("tsdb", "restore", "/srv/backup/a", "--data=/var/lib/restored")
    print("and a backup there is made, and restored", flush=True)


def over_tls():
    """(Whether a query over TLS finds its point, the common name of who answered.)"""
    context = ssl.create_default_context(cafile=CERTIFICATES / "authority.pem")
    with socket.create_connection(("127.0.0.1", TLS_PORT), 30) as plain, context.wrap_socket(plain, server_hostname="localhost") as client:
        client.sendall(f"GET /api/query?start={FIRST}&end={FIRST + 60}&m=sum:unit_lines HTTP/1.0\r\n\r\n".encode())
        said = b""
        while piece := client.recv(65536):
            said += piece
        return f'"{FIRST}":7'.encode() in said, dict(pair[0] for pair in client.getpeercert()["subject"])["commonName"]


def serves_tls_and_reloads():
    CERTIFICATES.mkdir()
    make_certificate(CERTIFICATES, "authority")
    for name in ("server", "second"):
        make_certificate(CERTIFICATES, name, "authority")
    good("chown", "-R", "hourglass:hourglass", CERTIFICATES)
    settings(network__tls__certificate=CERTIFICATES / "server.pem", network__tls__key=CERTIFICATES / "server.key",
             network__tls__port=TLS_PORT)
    good("systemctl", "restart", "hourglass")
    is_ready("with TLS it starts")
    check("a query over TLS is answered", over_tls(), (True, "server"))
    before = shown("MainPID")
    for ending in ("pem", "key"):
        shutil.copyfile(CERTIFICATES / f"second.{ending}", CERTIFICATES / f"server.{ending}")
    good("systemctl", "reload", "hourglass")
    check("after a reload by another certificate", waited(over_tls, (True, "second")), (True, "second"))
    check("of the same process", shown("MainPID"), before)
    check.demand(shown("ActiveState") == "active", "TLS is served, and certificates are reloaded")


def comes_back_after_a_kill():
    before, restarts = shown("MainPID"), int(shown("NRestarts"))
    put([{"metric": "unit_killed", "timestamp": FIRST, "value": 5, "tags": {"host": "a"}}])
    good("systemctl", "kill", "-s", "KILL", "hourglass")
    check("a killed daemon is started again by itself", waited(lambda: int(shown("NRestarts")), restarts + 1), restarts + 1)
    is_ready("and is ready")
    check.demand(shown("MainPID") != before, "as another process")
    check("with what it had acknowledged", service.query(FIRST, "sum:unit_killed", FIRST + 60)[0]["dps"], {str(FIRST): 5})


def upgraded_under_load():
    ledgers = [kill_rounds.Ledger() for _ in range(2)]
    clients = [replace_rounds.Writer(service, ledger, number, number + 1) for number, ledger in enumerate(ledgers)]
    clients.append(replace_rounds.Asker(service))
    before = shown("MainPID")
    for client in clients:
        client.start()
    try:
        check.demand(replace_rounds.wait_for_points(ledgers, replace_rounds.ROUND_POINTS), "clients write")
        good("apt-get", "-q", "install", "-y", "/later.deb")
        is_ready("a later package is installed, its program is ready")
        check.demand("+later" in good("dpkg-query", "-W", "hourglass") and shown("MainPID") != before, "as another process")
        more = sum(len(ledger.acknowledged) for ledger in ledgers) + replace_rounds.ROUND_POINTS
        check.demand(replace_rounds.wait_for_points(ledgers, more), "clients write on")
    finally:
        for client in clients:
            client.ending.set()
        for client in clients:
            client.join()
            check.nothing(client.errors)
    for writer, ledger in enumerate(ledgers):
        check.nothing(ledger.settle(kill_rounds.read_back(service, 0, writer)))
    print(f"{sum(len(ledger.acknowledged) for ledger in ledgers)} points acknowledged, {sum(client.repeated for client in clients)} requests sent once more")


def stops_in_good_order():
    good("systemctl", "stop", "hourglass")
    check("a stop succeeds", (shown("Result"), shown("ExecMainCode"), shown("ExecMainStatus")), ("success", "1", "0"))
    check.demand(shown("ActiveState") == "inactive", "a stop ends it in good order")
    good("systemctl", "start", "hourglass")
    is_ready("and it starts again")
    check("with nothing to read again", kill_rounds.replayed_records(service), 0)


def outlives_its_package():
    points = service.query(FIRST, "sum:unit_cpu", FIRST + 60)[0]["dps"]
    good("apt-get", "-q", "purge", "-y", "hourglass")
    check.demand(run("systemctl", "is-active", "hourglass")[1].strip() == "inactive" and (DATA / "MANIFEST").exists(),
                 "a purge stops the service and leaves the data")
    good("apt-get", "-q", "install", "-y", "/hourglass.deb")
    is_ready("installed while the system runs it is started")
    check("over the same data", service.query(FIRST, "sum:unit_cpu", FIRST + 60)[0]["dps"], points)


def journal_is_clean():
    told = good("journalctl", "--no-pager", "-o", "cat", "-u", "hourglass").splitlines()
    signals = [line for line in told if "code=killed" in line or "code=dumped" in line]
    check.demand(len(signals) == 1 and "status=9/KILL" in signals[0], f"the journal tells of one kill, which was ours: {signals}")
    check.demand(sum("Ready to serve" in line for line in told) > 5, "and of each start, in the daemon's own words")
    check.nothing([line for line in told if re.search(r"code=exited|Failed to|not permitted", line)])


def whole(work):
    """One step; that it could not be walked to its end is a failure, and the next one is tried all the same."""
    try:
        work()
    except Exception as error:  # of whatever kind
        check.nothing([f"{work.__name__}: {type(error).__name__}: {error}"])


def main():
    run("systemctl", "is-system-running", "--wait")
    is_ready("the service is started")
    check("it is enabled", run("systemctl", "is-enabled", "hourglass")[1].strip(), "enabled")
    for work in (process_is_confined, sandbox_refuses):
        whole(work)
    settings(core__histograms__config='{"net.opentsdb.core.SimpleHistogramDecoder":1}')
    good("systemctl", "restart", "hourglass")
    is_ready("it is restarted")
    whole(serves_all)
    # From here on a system call that the filter refuses ends the process, instead of failing.
    drop_in("kill", "SystemCallErrorNumber=kill\n")
    good("systemctl", "restart", "hourglass")
    is_ready("where a refused system call kills it starts")
    restarts = shown("NRestarts")
    for work in (serves_all, tools_by_user, backups_need_room, serves_tls_and_reloads):
        whole(work)
    check.demand((shown("NRestarts"), shown("Result")) == (restarts, "success"), "no refused system call was made")
    for work in (comes_back_after_a_kill, upgraded_under_load, stops_in_good_order, outlives_its_package, journal_is_clean):
        whole(work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
