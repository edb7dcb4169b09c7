"""A daemon with a folder of its own, and a browser, for as long as a with-statement lasts."""
import contextlib
import tempfile

from chromium import Chromium
from daemon import Daemon


@contextlib.contextmanager
def looking(tsdb, **size):
    """(daemon, browser), both ended afterwards."""
    with tempfile.TemporaryDirectory(prefix="hourglass-page-") as folder:
        daemon = Daemon(tsdb, folder)
        daemon.start()
        try:
            browser = Chromium(**size)
            try:
                yield daemon, browser
            finally:
                browser.close()
        finally:
            daemon.stop()
