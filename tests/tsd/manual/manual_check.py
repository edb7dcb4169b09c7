#!/usr/bin/env python3
"""The manual pages and completions that the build wrote: groff reads the pages without a word, bash completes what the
program's own help lists, and the files for zsh and fish have it (shells.py types in all three).
    manual_check.py build/release/tsdb build/release/share
The last line reads "N passed, N failed"."""
import os
import re
import subprocess
import sys
from pathlib import Path

OPTION = re.compile(r"^  (--[a-z0-9_-]+)(=?)", re.MULTILINE)


def help_of(tsdb, *words):
    return subprocess.run([tsdb, *words, "--help"], capture_output=True, text=True, check=False).stderr


def commands_of(tsdb):
    return re.findall(r"^  ([a-z]+) ", help_of(tsdb).split("commands:")[1], re.MULTILINE)


def completions(share, *words):
    """The completions that bash offers for the last word."""
    line = ("source \"$1\"; shift; COMP_WORDS=(tsdb \"$@\"); COMP_CWORD=$#; _tsdb; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-uc", line, "bash", share / "bash-completion/completions/tsdb", *words],
                          capture_output=True, text=True, check=False)
    return set(done.stdout.split()) if done.returncode == 0 and not done.stderr else {done.stderr}


def faults(tsdb, share):
    commands = commands_of(tsdb)
    if len(commands) < 10:
        yield f"the program has the commands {commands}"
    pages = {path.name for path in (share / "man/man1").iterdir()}
    wanted = {"tsdb.1"} | {f"tsdb-{command}.1" for command in commands}
    if not wanted <= pages:
        yield f"there are no pages {wanted - pages}"
    for page in sorted(wanted & pages):
        said = subprocess.run(["groff", "-Kutf8", "-man", "-ww", "-z", "-Tutf8", share / "man/man1" / page], capture_output=True,
                              text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
        if said.stderr:
            yield f"groff on {page}: {said.stderr.strip()}"
    if (offered := completions(share, "")) != set(commands):
        yield f"bash offers {offered}, the program has {commands}"
    if (offered := completions(share, "mk")) != {"mkmetric"}:
        yield f"bash makes of mk: {offered}"
    zsh = (share / "zsh/vendor-completions/_tsdb").read_text()
    fish = (share / "fish/vendor_completions.d/tsdb.fish").read_text()
    for command in commands:
        known = {name + equals for name, equals in OPTION.findall(help_of(tsdb, command))}
        if not known <= (offered := completions(share, command, "--")):
            yield f"bash does not know of {command}: {known - offered}"
        if f"    '{command}:" not in zsh or f"    {command})\n" not in zsh:
            yield f"zsh does not know {command}"
        if f" -a {command} " not in fish or not all(f" -l {name[2:]} " in fish for name in (n.rstrip("=") for n in known)):
            yield f"fish does not know {command}"


def main():
    tsdb, share = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    wrong = list(faults(tsdb, share))
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(commands_of(tsdb))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
