#!/usr/bin/env python3
"""The inputs that are kept for the fuzzers: tests/fuzz/corpus/NAME.hex, one a line in hexadecimal.

  corpus.py unpack NAME.hex FOLDER   a file each, as libFuzzer wants them
  corpus.py keep BUILD_FOLDER        from BUILD_FOLDER/corpus/NAME, where run_fuzzers lets them grow, as few and as
                                     short ones as reach the same code, replace NAME.hex
"""
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT_BYTES_MAX = 4096


def unpack(packed, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for line in packed.read_text().split():
        content = bytes.fromhex(line)
        (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)


def keep(fuzzer, grown, packed):
    """Chooses, from the kept and the new inputs, few inputs of at most INPUT_BYTES_MAX bytes."""
    with tempfile.TemporaryDirectory() as scratch:
        few, all_inputs = Path(scratch, "few"), Path(scratch, "all")
        few.mkdir()
        if packed.exists():
            unpack(packed, all_inputs)
        all_inputs.mkdir(exist_ok=True)
        subprocess.run([fuzzer, "-set_cover_merge=1", f"-max_len={INPUT_BYTES_MAX}", "-rss_limit_mb=4000",
                        few, all_inputs, grown], check=True, stderr=subprocess.DEVNULL)
        kept = sorted((path.read_bytes() for path in few.iterdir()), key=lambda content: (len(content), content))
    packed.write_text("".join(content.hex() + "\n" for content in kept if content))
    print(f"{packed.name}: {len(kept)} inputs, {packed.stat().st_size} bytes")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "unpack":
        return unpack(Path(sys.argv[2]), Path(sys.argv[3]))
    if len(sys.argv) != 3 or sys.argv[1] != "keep":
        sys.exit(__doc__)
    build = Path(sys.argv[2]).resolve()
    for grown in sorted((build / "corpus").iterdir()):
        if (build / grown.name).exists():
            keep(build / grown.name, grown, HERE / "corpus" / f"{grown.name}.hex")


if __name__ == "__main__":
    main()
