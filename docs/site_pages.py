"""A hook of mkdocs: which files the site has.

Pages stand beside what they describe, and a link that works in the repository works on the site: each keeps its path. A
page of docs/ that mkdocs.yml does not name yet stands at the end of the menu.
"""
import subprocess
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
ENDINGS = (".md", ".png")
LEFT_OUT = ("tests/compat/conformance/",)  # recordings, whose links belong to another site


def known_files():
    """The files of the repository, including those that are not added to git yet."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted(name for name in set(listed.stdout.splitlines())
                  if name.endswith(ENDINGS) and not name.startswith(LEFT_OUT) and (ROOT / name).is_file())


def named(menu):
    for entry in menu:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for value in entry.values():
                yield from named(value if isinstance(value, list) else [value])


def on_config(config):
    others = set(known_files()) - set(named(config["nav"]))
    more = sorted(name for name in others if name.startswith("docs/") and name.endswith(".md"))
    if more:
        config["nav"].append({"More": more})
    return config


def on_files(files, config):
    of_theme = [file for file in files if not file.abs_src_path.startswith(str(ROOT))]
    own = [File(name, str(ROOT), config["site_dir"], config["use_directory_urls"]) for name in known_files()]
    return Files(of_theme + own)
