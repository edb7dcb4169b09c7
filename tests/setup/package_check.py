#!/usr/bin/env python3
"""The Debian package of a build: its contents, whether its program runs, what its maintainer scripts do (with the system's
commands replaced by ones that record their calls), and whether systemd accepts its unit.
    package_check.py build/release
The last line reads "N passed, N failed"."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# systemd-analyze security: 0 is the safest of 10, below 2 it says "OK"; a network daemon cannot reach 0.
EXPOSURE_MAX = 1.6

FILES = {"usr/bin/tsdb": 0o755, "etc/hourglass/hourglass.conf": 0o644, "lib/systemd/system/hourglass.service": 0o644,
         "usr/share/man/man1/tsdb.1.gz": 0o644, "usr/share/man/man1/tsdb-backup.1.gz": 0o644,
         "usr/share/bash-completion/completions/tsdb": 0o644, "usr/share/zsh/vendor-completions/_tsdb": 0o644,
         "usr/share/fish/vendor_completions.d/tsdb.fish": 0o644,
         "usr/share/doc/hourglass/settings.md": 0o644, "usr/share/doc/hourglass/copyright": 0o644,
         "usr/share/doc/hourglass/changelog.gz": 0o644}

# A command that notes how it was called, and answers as if nothing had been enabled before.
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> "$NOTES"\n[ "$2" != was-enabled ]\n'
# The user is there if its name is in KNOWN.
GETENT = '#!/bin/sh\n[ "$2" = "$KNOWN" ]\n'
STUBS = ("adduser", "chown", "deb-systemd-helper", "deb-systemd-invoke", "systemctl")

checks = [0, 0]


def check(good, what):
    checks[0 if good else 1] += 1
    if not good:
        print("FAIL", what)


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.stdout + done.stderr if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def check_contents(package, tree):
    subprocess.run(["dpkg", "-x", package, tree], check=True)
    for name, mode in FILES.items():
        path = tree / name
        check(path.is_file() and path.stat().st_mode & 0o777 == mode, f"{name} is there with mode {mode:o}")
    check("net.opentsdb.tools" in output(tree / "usr/bin/tsdb", "version"), "its program runs")
    check(output("dpkg-deb", "--info", package, "conffiles") == "/etc/hourglass/hourglass.conf\n", "its conffile is one")
    depends = output("dpkg-deb", "--field", package, "Depends")
    check("libc6 (" in depends and "adduser" in depends, f"it depends on {depends}")
    sums = output("md5sum", "--check", "--quiet", "/dev/stdin", cwd=tree,
                  input=output("dpkg-deb", "--info", package, "md5sums"))
    check(sums == "", f"its sums are right: {sums}")
    owners = {line.split()[1] for line in output("dpkg-deb", "--contents", package).splitlines()}
    check(owners == {"root/root"}, f"its files are of {owners}")


def run_script(package, folder, script, *arguments, known=""):
    """Its notes, below a root of its own."""
    control = folder / "control"
    if not control.exists():
        subprocess.run(["dpkg-deb", "--control", package, control], check=True)
    stubs = folder / "stubs"
    stubs.mkdir(exist_ok=True)
    for name in STUBS:
        (stubs / name).write_text(STUB)
        (stubs / name).chmod(0o755)
    (stubs / "getent").write_text(GETENT)
    (stubs / "getent").chmod(0o755)
    notes = folder / "notes"
    notes.write_text("")
    environment = {**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}", "NOTES": str(notes), "KNOWN": known,
                   "DPKG_ROOT": str(folder / "root")}
    done = subprocess.run(["sh", control / script, *arguments], env=environment, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{script} {arguments} succeeds: {done.stderr}")
    return notes.read_text()


def check_scripts(package, folder):
    data = folder / "root/var/lib/hourglass"
    notes = run_script(package, folder, "postinst", "configure", "")
    check(re.search(r"^adduser --system --group .* hourglass$", notes, re.MULTILINE), f"a user is made: {notes}")
    check(data.is_dir() and data.stat().st_mode & 0o777 == 0o750, "the data directory is made, for its user alone")
    check(f"chown hourglass:hourglass {data}" in notes, "and is that user's")
    check("deb-systemd-helper update-state hourglass.service" in notes, "the service is known")
    data.chmod(0o700)
    notes = run_script(package, folder, "postinst", "configure", "0.0.9", known="hourglass")
    check("adduser" not in notes, "a user that is there, whatever its number, is left alone")
    check("chown" not in notes and data.stat().st_mode & 0o777 == 0o700, "an upgrade leaves owner and mode as they are")
    (data / "MANIFEST").write_text("data")
    for script, word in (("prerm", "upgrade"), ("prerm", "remove"), ("postrm", "remove"), ("postrm", "purge")):
        run_script(package, folder, script, word)
    check((data / "MANIFEST").exists(), "the data outlives a purge")


def check_unit(tree):
    unit = tree / "lib/systemd/system/hourglass.service"
    # The program and the manual pages are looked for where they will be.
    text = unit.read_text().replace("/usr/bin/tsdb", str(tree / "usr/bin/tsdb"))
    moved = tree / "hourglass.service"
    moved.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE))
    # It reads what the machine has of other units, too, and finds fault with them.
    said = [line for line in output("systemd-analyze", "verify", "--man=no", moved).splitlines()
            if line and not re.match(r"/(usr/)?(lib|etc)/systemd/", line)]
    check(not said, f"systemd-analyze verify: {said}")
    said = output("systemd-analyze", "security", "--offline=true", "--no-pager", moved)
    level = re.search(r"exposure level for hourglass.service: ([0-9.]+)", said)
    check(level and float(level[1]) <= EXPOSURE_MAX, f"systemd-analyze security: {level[0] if level else said}")
    moved.write_text(re.sub(r"^Protect.*\n", "", text, flags=re.MULTILINE))
    said = output("systemd-analyze", "security", "--offline=true", "--no-pager", moved)
    level = re.search(r"exposure level for hourglass.service: ([0-9.]+)", said)
    check(level and float(level[1]) > EXPOSURE_MAX, "the canary, a unit with less protection, is more exposed")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = subprocess.run([ROOT / "setup/package", "--build", Path(sys.argv[1]).resolve(), "--out", folder / "out"],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(f"FAIL setup/package: {made.stderr}\n0 passed, 1 failed")
            return 1
        package = Path(made.stdout.strip())
        tree = folder / "tree"
        check_contents(package, tree)
        check_scripts(package, folder)
        check_unit(tree)
    print(f"{checks[0]} passed, {checks[1]} failed")
    return 1 if checks[1] else 0


if __name__ == "__main__":
    sys.exit(main())
