"""A daemon with its own folder, and a browser, for the duration of a with-statement."""
import contextlib
import tempfile

from chromium import Chromium
from daemon import Daemon


@contextlib.contextmanager
def looking(tsdb, **size):
    """Yields (daemon, browser), and ends both afterwards."""
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
