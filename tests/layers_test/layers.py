#!/usr/bin/env python3
"""Holds the arrows of ARCHITECTURE.md: reads every #include of the source tree against the table below, and asks the
build which sources it compiles, so that no file is forgotten.

    layers.py --root CHECKOUT --build BUILD_FOLDER     checks the project
    layers.py --self-test                              checks the check, on small trees that break each rule

The last line reads "N passed, N failed"; each rule is one.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Folder -> folders it may include besides itself. The longest folder that holds a file decides.
MAY_INCLUDE = {
    "storage/base": [],
    "storage/model": ["storage/base"],
    "storage/codec": ["storage/base", "storage/model"],
    "storage": ["storage/base", "storage/model"],  # storage/store.h and storage/series_matcher.h, the interfaces of storage
    "storage/lsm": ["storage/base", "storage/model", "storage/*"],
    "storage/region": ["storage/base", "storage/model", "storage/*", "storage/lsm"],
    "storage/points": ["storage/base", "storage/model", "storage/*", "storage/codec"],
    "storage/engine": ["storage/base", "storage/model", "storage/*", "storage/codec", "storage/lsm", "storage/region", "storage/points"],
    "storage/hbase": ["storage/base", "storage/model", "storage/*", "storage/lsm", "storage/points"],
    "storage/thrift2": ["storage/base", "storage/model", "storage/*", "storage/points", "storage/hbase"],
    "storage/local": ["storage/base", "storage/model", "storage/*"],
    "uid": ["storage/**"],
    "compaction": ["storage/**"],
    "query/time": ["storage/**"],
    "query/request": ["uid", "storage/**"],
    "query/buckets": ["query/time", "query/request", "storage/**"],
    "query/plan": ["query/time", "query/request", "query/buckets", "uid", "storage/**"],
    "query/series": ["query/request", "query/plan", "uid", "storage/**"],
    "query/rows": ["query/time", "query/request", "query/buckets", "query/plan", "query/series", "uid", "storage/**"],
    "query/expression": ["query/time", "query/request", "query/buckets", "query/plan", "uid", "storage/**"],
    "query/promql": ["query/request", "query/series", "query/rows", "uid", "storage/**"],
    "query": ["query/time", "query/request", "query/buckets", "query/plan", "query/series", "query/rows", "uid", "storage/**"],
    # The table in http/routes names all handlers of http/api. A query that deletes calls back for the role that it needs.
    "http/request": ["http/access", "http/wire", "query/**", "uid", "storage/**"],
    "http/access": ["http/request", "storage/**"],
    "http/wire": ["http/request", "query/**", "uid", "storage/**"],
    "http/graph": ["http/request", "query/**", "storage/**"],
    "http/page": [],
    "http/tls": ["http/request", "storage/**"],
    "http/intake": ["http/request", "http/wire", "storage/**"],
    "http/api": ["http/access", "http/graph", "http/intake", "http/page", "http/request", "http/routes", "http/wire", "query/**", "uid", "storage/**"],
    "http/routes": ["http/access", "http/api", "http/request", "http/wire", "query/**", "storage/**"],
    "http/telnet": ["http/access", "http/api", "http/intake", "http/request", "http/wire", "storage/**"],
    "http/server": ["http/access", "http/intake", "http/request", "http/routes", "http/telnet", "http/tls", "http/wire", "query/**", "storage/**"],
    "tsd": ["http/**", "query/**", "compaction", "uid", "storage/**"],
    "tests": ["**"],
    "bench": ["**"],
    "cmake": [],
}
# "storage/*" = files directly in storage (its interfaces); "storage/**" = everything below it; "**" = everything.

SOURCE = (".h", ".cc")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def room_of(path):
    """The folder of the table to which a file (relative path with /) belongs; None if it belongs to none."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in MAY_INCLUDE:
            return "/".join(parts)
        parts.pop()
    return None


def allowed(room, target):
    for pattern in MAY_INCLUDE[room] + [room]:
        if pattern == "**" or pattern == target:
            return True
        if pattern.endswith("/**") and (target + "/").startswith(pattern[:-2]):
            return True
        if pattern.endswith("/*") and target == pattern[:-2]:
            return True
    return False


def sources(root):
    """The project's sources: tracked by git or new and not ignored, so that build folders are left out."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*")]
    return sorted(name for name in names if name.endswith(SOURCE) and (root / name).is_file())


def upward_includes(root, files):
    wrong = []
    for name in files:
        room = room_of(name)
        if room is None:
            wrong.append(f"{name}: no folder of the table holds this file")
            continue
        text = (root / name).read_text(errors="replace")
        for found in INCLUDE.finditer(text):
            line = text.count("\n", 0, found.start(1)) + 1
            target = found.group(1)
            if not (root / target).is_file():
                wrong.append(f'{name}:{line}: "{target}" is not written from the root')
                continue
            target_room = room_of(target)
            if target_room is None or not allowed(room, target_room):
                wrong.append(f"{name}:{line}: {room} may not include {target}")
    return wrong


def compiled(root, build):
    """(source, program or library) of each compilation. A file of cmake/unity.cmake counts as the sources that it includes."""
    pairs = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        owner = re.search(r"CMakeFiles/([^/]+)\.dir/", entry.get("output", "") or entry["command"])
        file = Path(entry["directory"], entry["file"]).resolve()
        together = INCLUDE.findall(file.read_text()) if file.parent.name == "unity" and file.is_relative_to(build) else []
        pairs += [(source, owner and owner.group(1)) for source in [(root / name).resolve() for name in together] or [file]]
    return pairs


def forgotten_files(root, files, built):
    """Sources that no target compiles, and headers that no file includes."""
    wrong = [f"{name}: no target builds it" for name in files
             if name.endswith(".cc") and (root / name).resolve() not in built]
    included = set()
    for name in files:
        included.update(INCLUDE.findall((root / name).read_text(errors="replace")))
    wrong += [f"{name}: nothing includes it" for name in files if name.endswith(".h") and name not in included]
    return wrong


def unregistered_tests(pairs, build):
    """Test programs that are built but not known to ctest."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True)
    known = {test["name"] for test in json.loads(listed.stdout)["tests"]}
    programs = {owner: source.name for source, owner in pairs if owner and source.name.endswith("_test.cc")}
    return [f"{file}: program {name} is not registered with ctest"
            for name, file in sorted(programs.items()) if name not in known]


def report(rules):
    failed = 0
    for rule, wrong in rules:
        for line in wrong:
            print(f"FAIL {rule}: {line}")
        failed += bool(wrong)
    print(f"{len(rules) - failed} passed, {failed} failed")
    return 1 if failed else 0


def self_test():
    """Checks small trees that break one rule each: that rule must be reported and nothing else, and nothing for the good tree."""
    good = {
        "storage/base/status.h": "",
        "storage/store.h": '#include "storage/base/status.h"\n',
        "storage/lsm/wal.h": '#include "storage/store.h"\n',
        "storage/lsm/wal.cc": '#include <vector>\n#include "storage/lsm/wal.h"\n',
        "query/time/scan_window.cc": '#include "storage/lsm/wal.h"\n',
    }
    upward = {
        "storage/base/status.h": '#include "storage/model/point.h"\n',
        "storage/model/point.h": '#include "storage/codec/row.h"\n',
        "storage/codec/row.h": '#include "storage/lsm/wal.h"\n',
        "storage/lsm/wal.h": '#include "storage/region/table.h"\n',
        "storage/region/table.h": '#include "storage/points/points.h"\n',
        "storage/points/points.h": '  #  include "uid/names.h"\n',
        "storage/store.h": '#include "storage/points/points.h"\n',
        "uid/names.h": '#include "query/time/scan_window.h"\n',
        "compaction/job.h": '#include "uid/names.h"\n',
        "query/time/scan_window.h": '#include "http/server/server.h"\n',
        "http/server/server.h": '#include "tsd/config.h"\n',
        "tsd/config.h": "",
        "elsewhere/lost.h": "",
        "http/local.cc": '#include "server.h"\n',
    }
    expected = sorted(set(upward) - {"tsd/config.h"})
    with tempfile.TemporaryDirectory() as folder:
        def tree(name, files):
            root = Path(folder, name)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return root, sorted(files)

        root, files = tree("good", good)
        built = {(root / name).resolve() for name in files if name.endswith(".cc")}
        build, _ = tree("build", {"unity/all_1.cc": "".join(f'#include "{name}"\n' for name in files if name.endswith(".cc"))})
        (build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(build), "file": "unity/all_1.cc", "command": "c++ -o CMakeFiles/all.dir/unity/all_1.cc.o"}]))
        bad_root, bad_files = tree("bad", upward)
        found = upward_includes(bad_root, bad_files)
        return report([
            ("a good tree has no upward include", upward_includes(root, files)),
            ("a good tree has no forgotten file", forgotten_files(root, files, built)),
            ("every upward include is found", [] if [line.split(":")[0] for line in found] == expected else found),
            ("sources that are compiled together are known, with their target", sorted(
                {(source, "all") for source in built} ^ set(compiled(root.resolve(), build.resolve())))),
            ("a source without target is found", [] if any(
                line.startswith("query/time/scan_window.cc") for line in forgotten_files(root, files, built - {
                    (root / "query/time/scan_window.cc").resolve()})) else ["query/time/scan_window.cc was missed"]),
            ("a header without reader is found", [] if any(
                line.startswith("storage/store.h") for line in forgotten_files(root, [
                    "storage/base/status.h", "storage/store.h"], built)) else ["storage/store.h was missed"]),
        ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.root or not args.build:
        parser.error("--root and --build are needed")
    root, build = args.root.resolve(), args.build.resolve()
    files = sources(root)
    pairs = compiled(root, build)
    return report([
        ("no include points upward", upward_includes(root, files)),
        ("no file is forgotten", forgotten_files(root, files, {source for source, _ in pairs})),
        ("no test is forgotten", unregistered_tests(pairs, build)),
    ])


if __name__ == "__main__":
    sys.exit(main())
