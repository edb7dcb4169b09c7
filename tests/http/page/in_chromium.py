#!/usr/bin/env python3
"""The page as people use it: Chromium opens it from a daemon on this machine, clicks, drags, types, and looks.

    in_chromium.py --tsdb build/release/tsdb [--only TEXT]

The cases are in *_cases.py. Each begins with a page just opened; after it the browser must have complained about nothing (no breach of
the page's Content-Security-Policy, no exception), and asked nobody but the daemon. The last line reads "N passed, N failed".
"""
import argparse
import http.client
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
import everyday_cases  # noqa: E402, F401
import awkward_cases  # noqa: E402, F401
import note_cases  # noqa: E402, F401
import server_cases  # noqa: E402, F401
from looking import looking  # noqa: E402
from visit import CASES, Visit, equal  # noqa: E402


def run(visit, only):
    passed, failed = 0, []
    for test in CASES:
        if only and only not in test.__name__:
            continue
        visit.browser.requests.clear()
        visit.browser.complaints.clear()
        try:
            test(visit)
            equal(visit.browser.complaints, [])
            equal([url for url in visit.browser.requests if not url.startswith((visit.base, "about:", "data:"))], [])
            passed += 1
            print(f"ok   {test.__name__}")
        except (AssertionError, RuntimeError, OSError, http.client.HTTPException, KeyError) as error:
            failed.append(test.__name__)
            print(f"FAIL {test.__name__}: {error}; complaints: {visit.browser.complaints}")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with looking(arguments.tsdb) as (daemon, browser):
        visit = Visit(daemon, browser)
        visit.fill()
        passed, failed = run(visit, arguments.only)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
