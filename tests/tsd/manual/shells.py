#!/usr/bin/env python3
"""Completion as somebody types it: a shell on a terminal of its own, with the file that the build wrote.

    shells.py bash|zsh|fish build/release/tsdb build/release/share

Ends with status 77 and "skipped:" where there is no such shell. The last line reads "N passed, N failed".
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402
from manual_check import OPTION, commands_of, help_of  # noqa: E402

SKIPPED = 77
PATIENCE_S = 30
# A command called "tsdb" that prints the words it is given.
TELL_SH = "tsdb() {{ local IFS='|'; printf 'GOT<%s>\\n' \"$*\"; }}\nPS1='ready> '\n"
BASH = TELL_SH + "source '{share}/bash-completion/completions/tsdb'\n"
# Writes the completions to a file, too; words with -O, -A and -D are left out.
ZSH = TELL_SH + """fpath=('{share}/zsh/vendor-completions' $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {{
  local -a found
  if [[ " $* " != *' -'[OAD]' '* ]]; then
    builtin compadd -O found "$@"
    print -rl -- $found >>'{offered}'
  fi
  builtin compadd "$@"
}}
"""
# The shell finds the file by itself, in XDG_DATA_DIRS.
FISH = """function tsdb; printf 'GOT<%s>\\n' (string join '|' -- $argv); end
function fish_prompt; printf 'ready> '; end
set -g fish_greeting
set -g fish_autosuggestion_enabled 0
"""
# By name of the shell: the file that it reads at its start, the file's contents, and the command that starts it.
SHELLS = {"bash": (".bashrc", BASH, ["bash", "--noprofile", "--rcfile", "{start}", "-i"]),
          "zsh": (".zshrc", ZSH, ["zsh", "-d", "-i"]),
          "fish": (".config/fish/config.fish", FISH, ["fish", "-i"])}


class Shell:
    """A shell on a terminal, in `folder`."""

    def __init__(self, name, share, folder):
        self.name = name
        self.offered_file = folder.parent / "offered"
        home = folder.parent
        place, text, words = SHELLS[name]
        start = home / place
        start.parent.mkdir(parents=True, exist_ok=True)
        start.write_text(text.format(share=share, offered=self.offered_file))
        words = [word.format(start=start) for word in words]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "ZDOTDIR": str(home), "TERM": "vt100", "LC_ALL": "C.UTF-8",
                       "INPUTRC": "/dev/null", "XDG_DATA_DIRS": str(share)}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 250, 0, 0))
        self.seen = ""
        self.until("ready> ")

    def until(self, pattern):
        """Reads the shell's output until the regular expression matches; returns the match."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.seen)):
            if time.monotonic() > end or not select.select([self.terminal], [], [], end - time.monotonic())[0]:
                raise RuntimeError(f"the shell shows {self.seen!r}")
            self.seen += os.read(self.terminal, 1 << 16).decode("utf-8", "replace")
        self.seen = self.seen[found.end():]
        return found

    def typed(self, keys):
        """The words of the command line that these keys produce, which may include Tab."""
        os.write(self.terminal, (keys + "\r").encode())
        words = self.until(r"GOT<([^>]*)>")[1]
        self.until("ready> ")
        return words

    def offers(self, keys):
        """Returns {completions that zsh or fish offers after these keys}."""
        self.offered_file.write_text("")
        if self.name == "fish":
            self.typed(f"complete -C '{keys}' | string replace -r '\\t.*' '' >'{self.offered_file}'; tsdb")
        else:
            self.typed(keys + "\t\x15tsdb")
        return set(self.offered_file.read_text().split())

    def end(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def type_everything(name, shell, tsdb, check):
    check("a command is completed, beside a folder of its name", shell.typed("tsdb que\t"), "query")
    check("an option is", shell.typed("tsdb query --verb\t"), "query|--verbose")
    # fish puts a space between the two.
    check("an option, then its file", shell.typed("tsdb query --conf\tho\t").replace("config|", "config="),
          "query|--config=hourglass.conf")
    check("a file behind a blank", shell.typed("tsdb query --config ho\t"), "query|--config|hourglass.conf")
    check("the only file, without a letter", shell.typed("tsdb query --config=only/\t"), "query|--config=only/one")
    check("a file with a blank in its name", shell.typed("tsdb import tw\t"), "import|two words.txt")
    # zsh removes the slash at the end of the line.
    check("a folder", shell.typed("tsdb check --data=sto\t").rstrip("/"), "check|--data=store")
    if name == "bash":
        return  # bash's offers are tested without a terminal (manual_check.py)
    check("one of several values", shell.typed("tsdb tsd --async-io=f\t"), "tsd|--async-io=false")
    check("no file where none is meant", shell.typed("tsdb tsd --port=ho\t"), "tsd|--port=ho")
    commands = commands_of(tsdb)
    check("all commands are offered", shell.offers("tsdb "), set(commands))
    for command in commands:
        known = {option for option, _ in OPTION.findall(help_of(tsdb, command))}
        check(f"options of {command}", shell.offers(f"tsdb {command} --"), known)


def main():
    name, tsdb, share = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    if shutil.which(name) is None:
        print(f"skipped: completion in {name}, which is not installed (setup/install test)")
        return SKIPPED
    check = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "here"
        for made in ("query", "only", "store"):
            (folder / made).mkdir(parents=True)
        for made in ("hourglass.conf", "only/one", "two words.txt"):
            (folder / made).touch()
        shell = Shell(name, share, folder)
        try:
            type_everything(name, shell, tsdb, check)
        except RuntimeError as error:
            check(str(error), False, True)
        finally:
            shell.end()
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
