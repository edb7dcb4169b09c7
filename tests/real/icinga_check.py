"""A check for Icinga that measures nothing: it reports numbers that are known beforehand, and records that it did.

    icinga_check.py FOLDER HOST SERVICE
"""
import json
import sys

# The n-th values of each service and label: the value's text with its unit, and the text after it. There are six
# decimals, because Icinga's writer sends no more.
LABELS = {
    "load": lambda n: {"load1": (f"{n / 8}", ";5;10;0"), "load5": (f"{-n / 4}", "")},
    "disk": lambda n: {"used space": (f"{n}B", ";;;0;500000000000"), "inodes": (f"{10 ** 11 + n}", "")},
}


def notes(folder, host, service):
    """The path of a file of JSON objects, one per line: what was reported at one time."""
    return f"{folder}/{host}.{service}.told"


def main(folder, host, service):
    with open(notes(folder, host, service), "a+") as file:
        file.seek(0)
        told = LABELS[service](len(file.readlines()))
        # Written before it is reported, so that everything that was reported is in the file.
        file.write(json.dumps({label: text.rstrip("B") for label, (text, _) in told.items()}) + "\n")
    print("OK - as told | " + " ".join(f"'{label}'={text}{bounds}" for label, (text, bounds) in told.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
