"""A check for Icinga that measures nothing: it tells numbers that are known beforehand, and notes that it did.

    icinga_check.py FOLDER HOST SERVICE
"""
import json
import sys

# What is told the n-th time, by service and label: the value's text with its unit, and what stands behind it. Six digits
# behind the point are as many as Icinga's writer has.
LABELS = {
    "load": lambda n: {"load1": (f"{n / 8}", ";5;10;0"), "load5": (f"{-n / 4}", "")},
    "disk": lambda n: {"used space": (f"{n}B", ";;;0;500000000000"), "inodes": (f"{10 ** 11 + n}", "")},
}


def notes(folder, host, service):
    """The path of one JSON object a line, each what was told at one time."""
    return f"{folder}/{host}.{service}.told"


def main(folder, host, service):
    with open(notes(folder, host, service), "a+") as file:
        file.seek(0)
        told = LABELS[service](len(file.readlines()))
        # Written first: what is not there was not told.
        file.write(json.dumps({label: text.rstrip("B") for label, (text, _) in told.items()}) + "\n")
    print("OK - as told | " + " ".join(f"'{label}'={text}{bounds}" for label, (text, bounds) in told.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
