#!/usr/bin/env python3
"""Tools beside a running daemon do what they do alone, and the daemon sees at once what they changed.
    beside_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import gzip
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402
from checks import Checks  # noqa: E402

FIRST = 1_699_999_200  # the start of an hour
RANGE = [str(FIRST), str(FIRST + 7199)]
checks = Checks()
check = checks.must

# Commands that read only, so that their output is the same with a running daemon and without. The hours are long past, so the clock does not matter.
READERS = [["query", *RANGE, "sum", "a.b"], ["query", *RANGE, "avg", "downsample", "60000", "max", "a.b", "host=*"],
           ["export", *RANGE, "sum", "a.b"], ["scan", *RANGE, "sum", "a.b"], ["scan", "--import", *RANGE, "sum", "a.b"],
           ["dump", "tsdb"], ["dump", "tsdb-uid"], ["dump", "tsdb-meta"], ["search", "lookup", "a.b"],
           ["uid", "grep", "a"], ["uid", "metrics", "a.b"], ["uid", "metrics", "1"], ["uid", "fsck"],
           ["fsck", "--full-scan"], ["fsck", *RANGE, "sum", "a.b"], ["table", "list"], ["table", "describe", "tsdb-uid"],
           ["admin", "count", "tsdb"]]
SAY_NOTHING = ("search", "fsck", "uid fsck")


class Tools:
    def __init__(self, server):
        self.server = server

    def command(self, *words):
        return [self.server.tsdb, words[0], f"--config={self.server.folder / 'tsd.conf'}", *map(str, words[1:])]

    def run(self, *words, text=None):
        """Runs a command; returns its exit status, standard output and standard error."""
        done = subprocess.run(self.command(*words), input=text, capture_output=True, text=True, check=False,
                              cwd=self.server.folder, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def good(self, *words, text=None):
        status, out, err = self.run(*words, text=text)
        check(status == 0, f"{' '.join(map(str, words))}: exit status {status}, {err[-500:]}")
        return out

    def refused(self, why, *words):
        status, out, err = self.run(*words)
        check(status == 1 and out == "" and why in err, f"{' '.join(map(str, words))}: {why}? {status}, {out}, {err}")


def points(server, metric):
    """The number of points, as the daemon answers."""
    try:
        answer = server.query(FIRST, f"sum:{metric}", FIRST + 7199)
    except daemon.Refused:
        return None  # the name does not exist
    return len(answer[0]["dps"]) if answer else 0


def counted(server, metric):
    """The number of points from a query by ten minutes, which the daemon may answer from its cache; it is sent twice."""
    first, again = (server.query(FIRST, f"sum:10m-count:{metric}", FIRST + 7199)[0]["dps"] for _ in range(2))
    check(first == again, f"asked twice: {first}, {again}")
    return sum(again.values())


def put(server, metric, count, tags=None):
    connection = server.connection()
    body = [{"metric": metric, "timestamp": FIRST + i, "value": i, "tags": tags or {"host": f"h{i % 3}"}}
            for i in range(count)]
    connection.request("POST", "/api/put", json.dumps(body))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def status_of(server, method, path, body=None):
    connection = server.connection()
    connection.request(method, path, body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def lines(metric, count, host):
    return "".join(f"{metric} {FIRST + 3600 + i} {i + 0.5} host={host}\n" for i in range(count))


def write_points(server, tools):
    check(put(server, "a.b", 1000) == 204, "the daemon takes points")
    tools.good("import", "--", "-", text=lines("a.b", 500, "h9"))
    check(points(server, "a.b") == counted(server, "a.b") == 1500, "the daemon sees what import wrote")
    tools.good("import", "--", "-", text=lines("a.b", 7, "h8"))
    check(counted(server, "a.b") == 1507, "also in hours that it was asked about before")
    packed = server.folder / "more.gz"
    packed.write_bytes(gzip.compress(lines("a.c", 2500, "h9").encode()))
    tools.good("import", packed)
    check(points(server, "a.c") == 2500, "of a packed file, too, of a metric that was new")
    tools.good("import", "--csv", "--", "-", text="metric,time,value,host\n" + f"a.d,{FIRST},0.25,x\n")
    check(server.query(FIRST, "sum:a.d", FIRST + 10)[0]["dps"] == {str(FIRST): 0.25}, "and of rows of CSV")
    status, _, err = tools.run("import", "--", "-", text=lines("a.d", 2, "x") + "a.d 1 bad host=x\n")
    check(status == 1 and "-:3" in err, f"a bad line ends it, as alone: {err}")
    check(points(server, "a.d") == 3, "what stands before it is stored")
    deleted = tools.good("scan", "--delete", FIRST + 3600, FIRST + 7199, "sum", "a.b", "host=h9")
    check(deleted.count("\n") == 500 and counted(server, "a.b") == 1007, "the daemon misses what scan --delete deleted")
    tools.good("scan", "--delete", FIRST + 3600, FIRST + 7199, "sum", "a.b", "host=h8")
    check(points(server, "a.b") == counted(server, "a.b") == 1000, "and the rest of it")


def change_names(server, tools):
    tools.good("mkmetric", "new.one")
    check(server.get("/api/suggest?type=metrics&q=new") == ["new.one"], "the daemon knows a metric that mkmetric made")
    check(put(server, "new.one", 5) == 204 and points(server, "new.one") == 5, "and takes points of it")
    tools.good("uid", "rename", "metrics", "new.one", "new.two")
    check(points(server, "new.two") == 5 and points(server, "new.one") is None, "it knows it by its new name alone")
    check(put(server, "new.one", 3) == 204 and points(server, "new.one") == 3 and points(server, "new.two") == 5,
          "points of the old name are another metric's")
    tools.good("uid", "delete", "metrics", "new.one")
    check(points(server, "new.one") is None, "a name that was deleted is gone")
    tools.good("uid", "assign", "tagv", "red", "green")
    check(server.get("/api/suggest?type=tagv&q=gre") == ["green"], "assigned tag values are known")
    tools.good("mkmetric", "new.three")
    put(server, "new.three", 5)
    tools.good("uid", "--uidtable=default:tsdb-uid", "rename", "metrics", "new.three", "new.four")
    check(points(server, "new.four") == 5 and points(server, "new.three") is None,
          "the table of names may be named with its namespace")
    # The points of the deleted metric must not remain, because fsck would report them as orphans.
    ids = tools.good("uid", "grep", "metrics", "^new.two$")
    check(ids.startswith("metrics new.two: ["), ids)
    tools.run("fsck", "--full-scan", "--fix", "--delete-orphans")
    check(tools.run("fsck", "--full-scan")[0] == 0, "fsck deleted the points without a name")


def metadata_and_trees(server, tools):
    series = "000001" + "000001" * 2
    seen = f"/api/uid/tsmeta?tsuid={series}"
    check(status_of(server, "GET", seen)[0] == 404, "a series has no metadata")
    tools.good("uid", "metasync")
    check(status_of(server, "GET", seen)[0] == 200, "the daemon sees what metasync wrote")
    tree = server.post("/api/tree", {"name": "t", "enabled": True})["treeId"]
    server.post("/api/tree/rule", {"treeId": tree, "level": 0, "order": 0, "type": "METRIC"})
    server.post("/api/tree", {"treeId": tree, "enabled": True})
    branch = f"/api/tree/branch?treeid={tree}"
    check(status_of(server, "GET", branch)[0] == 404, "the tree is empty")
    tools.good("uid", "treesync")
    check(status_of(server, "GET", branch)[0] == 200, "the daemon sees the branches that treesync made")
    tools.good("uid", "treepurge", tree, "true")
    check(status_of(server, "GET", branch)[0] == 404, "and that treepurge emptied it")
    tools.good("uid", "metapurge")
    check(status_of(server, "GET", seen)[0] == 404, "metapurge took the metadata, which the daemon sees")
    check(points(server, "a.b") == 1000, "points stay")


def regions(server, tools):
    tools.good("admin", "flush")
    sizes = json.loads(tools.good("admin", "sizes", "tsdb"))
    check(sizes[0]["files"] > 0, f"admin has the daemon flush: {sizes}")
    tools.good("admin", "split", "tsdb", "--at", r"\x00\x00\x02")
    asked = server.get("/api/admin/regions?table=tsdb")
    check(len(asked) == 2 and len(json.loads(tools.good("admin", "regions", "tsdb"))) == 2, f"both see two regions: {asked}")
    tools.good("admin", "compact", "tsdb")
    tools.good("admin", "merge", "tsdb", r"\x00\x00\x02")
    tables(server, tools)
    check(points(server, "a.b") == 1000, "points stay")


def tables(server, tools):
    tools.good("table", "create", "other", "{NAME=>f1,TTL=>180}", "SPLITS => ['m']")
    described = server.get("/api/admin/describe?table=other")
    check((described["families"][0]["TTL"], described["regions"]) == ("180", 2), f"the daemon has a table that the tool made: {described}")
    tools.good("table", "alter", "other", "--family", "f1", "--ttl", "1h")
    url = f"http://127.0.0.1:{server.port}"
    by_url = tools.good("table", "describe", "other", "--url", url)
    check(by_url == tools.good("table", "describe", "other") and '"TTL":"3600"' in by_url, by_url)
    tools.refused("--yes", "table", "drop", "other", "--url", url)
    for address in ([], ["--url", url]):
        tools.refused("holds the points", "table", "drop", "tsdb", "--yes", *address)
        tools.refused("running daemon", "table", "truncate", "tsdb-meta", "--yes", *address)
    tools.good("table", "truncate", "other", "--yes", "--url", url)
    check(tools.good("table", "describe", "other") == by_url, "the emptied table is as before")
    check(on_terminal(tools, "no", "table", "drop", "other") == 1, "a drop that is not confirmed fails")
    check("other" in [table["table"] for table in server.get("/api/admin/tables")], "and leaves the table")
    check(on_terminal(tools, "yes", "table", "drop", "other") == 0, "a drop that is confirmed succeeds")
    check("other" not in [table["table"] for table in server.get("/api/admin/tables")], "and the table is gone")
    tools.good("table", "create", "other", "f")


def on_terminal(tools, answer, *words):
    """The exit status of a command on a terminal whose user types the answer."""
    process, terminal = pty.fork()
    if process == 0:
        command = tools.command(*words)
        os.execv(command[0], command)
    os.write(terminal, f"{answer}\n".encode())
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:
        pass  # the command has ended
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def copies(server, tools):
    copy = server.folder / "copy"
    tools.good("backup", copy)
    tools.good("import", "--", "-", text=lines("later", 1, "x"))
    tools.good("check", copy)
    _, _, err = tools.run("check")
    check("no damage found" in err, f"check asks the daemon: {err}")
    tools.good("backup", copy)
    restored = server.folder / "restored"
    tools.good("restore", f"--data={restored}", copy)
    check(tools.good("dump", f"--data={restored}", "tsdb") == tools.good("dump", "tsdb"), "the copy is what the daemon has")
    tools.refused("neither", "check", server.folder)
    tools.refused("is neither empty nor a backup", "backup", server.folder)


class Writer(threading.Thread):
    """A client that writes points of its own until it is stopped; each value is the point's second."""

    def __init__(self, server, metric, host="w", begin=0):
        super().__init__()
        self.server, self.metric, self.host, self.begin = server, metric, host, begin
        self.end, self.stopped = begin, threading.Event()

    def run(self):
        connection = self.server.connection()
        while not self.stopped.is_set() and self.end < 7200:
            point = {"metric": self.metric, "timestamp": FIRST + self.end, "value": self.end, "tags": {"host": self.host}}
            connection.request("POST", "/api/put", json.dumps(point))
            answer = connection.getresponse()
            answer.read()
            check(answer.status == 204, f"the client's put: {answer.status}")
            self.end += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()
        check(self.end > self.begin, "a client wrote meanwhile")
        answer = self.server.query(FIRST + self.begin, f"sum:{self.metric}{{host={self.host}}}", FIRST + 7199)
        check(answer[0]["dps"] == {str(FIRST + i): i for i in range(self.begin, self.end)},
              f"no point of {self.metric} is lost")


def migrated(server, tools):
    """Migrates from a daemon to an unused directory, then to another daemon, and again for what the first run had missed."""
    data, copy = server.folder / "data", server.folder / "new"
    words = ["migrate", f"--from=dir://{data}", f"--to=dir://{copy}", f"--state={server.folder / 'out'}"]
    with Writer(server, "written.meanwhile"):
        tools.good(*words)
    check("; 0 rows written" not in tools.good(*words), "the next call has what the first one went past")
    tools.good(*words[:3], "--verify")
    scans = [["scan", "--import", *RANGE, "sum", metric] for metric in ("a.b", "a.c", "written.meanwhile")]
    for asked in (["dump", "tsdb-uid"], ["dump", "tsdb-meta"], ["dump", "tsdb-tree"], *scans):
        here, there = tools.good(*asked), tools.good(asked[0], f"--data={copy}", *asked[1:])
        check(here == there, f"{asked} says the same of both")
    folder = server.folder / "other"
    folder.mkdir()
    there = daemon.Daemon(server.tsdb, folder)
    there.start()
    try:
        into = ["migrate", f"--from=dir://{data}", f"--to=dir://{folder}/data", f"--state={server.folder / 'into'}"]
        tools.good(*into)
        Tools(there).good("scan", "--delete", *RANGE, "sum", "a.b")
        put(server, "a.b", 3, {"host": "late"})
        with Writer(there, "a.b", "h0", 1000):  # in a row that is being migrated
            with Writer(there, "its.own"):
                time.sleep(0.2)
                tools.good(*into)
        check(points(there, "a.b") >= 1000 and points(there, "a.c") == 2500, "the daemon answers with what came over")
        hosts = [there.query(FIRST, f"sum:a.b{{host={host}}}", FIRST + 999)[0]["dps"] for host in ("h0", "h1", "h2", "late")]
        check(hosts == [server.query(FIRST, f"sum:a.b{{host={host}}}", FIRST + 999)[0]["dps"]
                        for host in ("h0", "h1", "h2", "late")], "value by value")
        tools.good(*into[:3], "--verify")
        tools.refused("--delete: the data that clients write to the running daemon", *into, "--delete")
    finally:
        check(there.stop() == 0, "the other daemon stops")


def alone_only(server, tools):
    """Checks that commands that need the directory for themselves say so."""
    data = server.folder / "data"
    tools.refused("in use by process", "tsd", "--port", daemon.free_port())
    widths = server.folder / "widths.conf"
    widths.write_text(f"tsd.storage.path = {data}\ntsd.storage.uid.width.metric = 4\n")
    tools.refused("widths", "dump", f"--config={widths}", "tsdb")
    check(tools.run("settings")[0] == 0 and tools.run("version")[0] == 0, "others ask for no store")


GREETING = bytes((0, 0, 0, 2, 4, 0))  # a greeting without a layout (storage/local/calls.h)


def bytes_answered(path, user):
    """The bytes that the daemon answers to a greeting by that user."""
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(60)
        own = os.geteuid()
        os.seteuid(user)
        try:
            door.connect(str(path))
            door.sendall(GREETING)
            return len(door.recv(100))
        except ConnectionError:
            return 0
        finally:
            os.seteuid(own)


def strangers(server):
    """Checks that a user who may open the socket's file must still identify himself."""
    path = server.folder / "data/SOCKET"
    check(bytes_answered(path, os.geteuid()) > 0, "the daemon's own user is answered")
    if os.geteuid() != 0:
        print("not root: a stranger was not tried")
        return
    for opened, mode in ((server.folder, 0o755), (server.folder / "data", 0o755), (path, 0o666)):
        opened.chmod(mode)
    check(bytes_answered(path, 65534) == 0, "another user is not")


def first_daemon(tsdb, folder):
    server = daemon.Daemon(tsdb, folder, {"tsd.core.tree.enable_processing": "true"})
    tools = Tools(server)
    server.start()
    try:
        door = server.folder / "data/SOCKET"
        check(door.is_socket() and door.stat().st_mode & 0o777 == 0o600, "the socket is this user's alone")
        for part in (write_points, change_names, metadata_and_trees, regions, copies, migrated, alone_only):
            part(server, tools)
        beside = [tools.run(*words)[:2] for words in READERS]
        strangers(server)
    finally:
        check(server.stop() == 0, "the daemon stops")
    check(not door.exists(), "the socket is gone with the daemon")
    for words, (status, out) in zip(READERS, beside):
        alone = tools.run(*words)[:2]
        check(alone == (status, out), f"{' '.join(words)}: alone {alone}, beside a daemon {status, out}")
        check(out != "" or " ".join(words).startswith(SAY_NOTHING) or words == ["dump", "tsdb-meta"],
              f"{' '.join(words)} says something")
    return {table: tools.good("dump", table) for table in ("tsdb", "tsdb-uid")}


def loaded_and_repaired(tsdb, folder, dumped):
    """Loads cells with a running daemon, some damaged, and repairs them. The folder's path is longer than a socket's address may be."""
    server = daemon.Daemon(tsdb, folder, {"tsd.storage.path": folder / ("x" * 120) / "data"})
    tools = Tools(server)
    server.start()
    reverse = "tagv".encode().hex()
    lost = [line for line in dumped["tsdb-uid"].splitlines() if line.split("\t")[1:3] == ["name", reverse]][0]
    cells = [f"tsdb-uid\t{line}\n" for line in dumped["tsdb-uid"].splitlines() if line != lost]
    cells += [f"tsdb\t{line}\n" for line in dumped["tsdb"].splitlines()]
    row = dumped["tsdb"].split("\t", 1)[0]
    cells.append(f"tsdb\t{row}\tt\tab\t01\n")  # a column of one byte has no meaning in the format
    try:
        tools.good("load", text="".join(sorted(cells)))
        tools.refused("tsdb", "load")
        check(tools.good("dump", "tsdb").count("\n") == dumped["tsdb"].count("\n") + 1, "all cells are there")
        check(tools.run("uid", "fsck")[0] == 1, "a name of an id is missing")
        check(tools.run("uid", "fsck", "fix")[0] == 1 and tools.run("uid", "fsck")[0] == 0, "uid fsck puts it back")
        check(points(server, "a.b") == 1000, "the daemon resolves it")
        check(tools.run("fsck", "--full-scan")[0] == 1, "a column is unknown")
        check(tools.run("fsck", "--full-scan", "--fix", "--delete-unknown-columns")[0] == 1, "fsck deletes it")
        check(tools.run("fsck", "--full-scan")[0] == 0, "and it is gone")
        check(tools.good("dump", "tsdb") == dumped["tsdb"], "what is left is what was dumped")
        check(tools.good("dump", "tsdb-uid") == dumped["tsdb-uid"], "names and ids, too")
    finally:
        check(server.stop() == 0, "the daemon stops")


def other_forms(tsdb, folder):
    """Salted keys, and points in append cells."""
    server = daemon.Daemon(tsdb, folder, {"tsd.storage.salt.width": 1, "tsd.storage.enable_appends": "true"})
    tools = Tools(server)
    server.start()
    try:
        check(put(server, "a.b", 10) == 204, "the daemon takes points")
        tools.good("import", "--", "-", text=lines("a.b", 300, "h9") + lines("a.b", 300, "h8"))
        check(points(server, "a.b") == 310, "the daemon sees what import wrote")
        beside = tools.good("scan", *RANGE, "sum", "a.b")
        check(beside.count("\n") > 610, "scan shows it")
    finally:
        check(server.stop() == 0, "the daemon stops")
    check(tools.good("scan", *RANGE, "sum", "a.b") == beside, "alone it shows the same")


def half_an_import(tools, server):
    """An import that waits for more lines; the daemon has received some."""
    running = subprocess.Popen(tools.command("import", "--", "-"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, cwd=server.folder)
    running.stdin.write(lines("half", 3000, "x"))
    running.stdin.flush()
    give_up = time.monotonic() + 60
    while not points(server, "half") and time.monotonic() < give_up:
        time.sleep(0.01)
    return running


def ends(tsdb, folder):
    server = daemon.Daemon(tsdb, folder)
    tools = Tools(server)
    server.start()
    running = half_an_import(tools, server)
    running.kill()
    running.communicate()
    check(0 < points(server, "half") <= 3000, "a tool that is killed leaves what was stored")
    tools.good("import", "--", "-", text=lines("half", 3000, "x"))
    check(points(server, "half") == 3000, "and the next one completes it")

    tools.good("scan", "--delete", *RANGE, "sum", "half")
    running = half_an_import(tools, server)
    stored = points(server, "half")
    check(server.stop() == 0, "a daemon stops while a tool works")
    _, err = running.communicate(timeout=60)
    check(running.returncode == 1 and "the daemon that has" in err, f"the tool says so: {running.returncode}, {err}")
    server.start()
    check(points(server, "half") >= stored > 0, "what the daemon had answered with is there")

    waiting = subprocess.Popen(tools.command("dump", "tsdb-uid"), stdout=subprocess.PIPE, cwd=server.folder)
    waiting.send_signal(signal.SIGSTOP)
    server.kill()
    check((server.folder / "data/SOCKET").is_socket(), "a killed daemon leaves its socket")
    waiting.kill()
    waiting.wait()
    tools.good("dump", "tsdb-uid")
    server.start()
    tools.good("dump", "tsdb-uid")
    check(points(server, "half") >= stored, "the next daemon puts its own in its place")
    check(server.stop() == 0, "the daemon stops")


def mended(tsdb, folder):
    """Damages a file of a running daemon; the daemon repairs it and continues."""
    server = daemon.Daemon(tsdb, folder)
    tools = Tools(server)
    server.start()
    try:
        tools.good("import", "--", "-", text=lines("a.b", 3000, "h1") + lines("a.c", 3000, "h1"))
        tools.good("admin", "flush")
        mend(server, tools)
    finally:
        check(server.stop() == 0, "the daemon stops")
    check("no damage found" in tools.run("check")[2], "nor is any alone")


def restored(tsdb, folder):
    """Deletes points of a running daemon and restores them from a backup, while a client writes into the same rows."""
    server = daemon.Daemon(tsdb, folder)
    tools = Tools(server)
    server.start()
    copy = server.folder / "copy"
    try:
        check(put(server, "a.b", 1000) == 204 and put(server, "a.c", 1000) == 204, "the daemon takes points")
        tools.good("backup", copy)
        had = tools.good("scan", "--import", *RANGE, "sum", "a.b")
        tools.good("scan", "--delete", *RANGE, "sum", "a.b")
        check(counted_or_none(server, "a.b") is None, "they are deleted")
        check(put(server, "a.c", 500, {"host": "h1"}) == 204, "others are overwritten")
        of_c = tools.good("scan", "--import", *RANGE, "sum", "a.c")
        with Writer(server, "a.b", "h1", 1000):
            _, _, err = tools.run("restore", copy)
        check(", by its daemon: " in err, f"restore says what it did: {err}")
        back = [line for line in tools.good("scan", "--import", *RANGE, "sum", "a.b").splitlines(True)
                if int(line.split()[1]) < FIRST + 1000]
        check("".join(back) == had, "what was deleted is back, value by value")
        now_c = tools.good("scan", "--import", *RANGE, "sum", "a.c")
        check(all(line in now_c for line in of_c.splitlines(True)), "what was overwritten stays")
        check(sum(counted_or_none(server, "a.b").values()) > 1000, "queries see it")
        check(" 0 written" in tools.run("restore", copy)[2], "nothing is left to be put")
    finally:
        check(server.stop() == 0, "the daemon stops")


def counted_or_none(server, metric):
    answer = server.query(FIRST, f"sum:10m-count:{metric}", FIRST + 7199)
    return answer[0]["dps"] if answer else None


def mend(server, tools):
    check("nothing was damaged" in tools.run("repair")[2], "nothing is damaged")
    files = sorted((server.folder / "data").glob("*.points"), key=lambda file: file.stat().st_size)
    with open(files[-1], "r+b") as file:
        file.seek(10)
        byte = file.read(1)[0]
        file.seek(10)
        file.write(bytes([byte ^ 1]))
    status, out, _ = tools.run("check")
    check(status == 1 and str(files[-1]) in out, f"check finds the damage: {out}")
    with Writer(server, "written.while.mended"):
        status, lost, err = tools.run("repair")
    check(status == 0 and lost == out and "by its daemon" in err, f"repair tells the same loss: {status} {lost} {err}")
    check((server.folder / "data/lost" / files[-1].name).exists(), "what was damaged is set aside")
    check("no damage found" in tools.run("check")[2], "and no damage is left")
    tools.good("admin", "compact", "tsdb")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        for name in ("first", "second", "third", "fourth", "fifth", "sixth"):
            (folder / name).mkdir()
        dumped = first_daemon(sys.argv[1], folder / "first")
        loaded_and_repaired(sys.argv[1], folder / "second", dumped)
        other_forms(sys.argv[1], folder / "third")
        ends(sys.argv[1], folder / "fourth")
        mended(sys.argv[1], folder / "fifth")
        restored(sys.argv[1], folder / "sixth")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
