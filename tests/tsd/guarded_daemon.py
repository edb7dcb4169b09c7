#!/usr/bin/env python3
"""A daemon with users, TLS and certificates that are made here, as clients of other making see it (Python's ssl).

    guarded_daemon.py build/release/tsdb [--only TEXT]

The last line reads "N passed, N failed".
"""
import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import daemon as daemons  # noqa: E402

PATIENCE_S = 60
PASSWORD = "correct horse battery staple"
POINT = {"metric": "m", "timestamp": 1700000000, "value": 1, "tags": {"host": "a"}}
CASES = []


def case(function):
    CASES.append(function)
    return function


def check(good, what):
    if not good:
        raise AssertionError(what)


def until(good, what):
    check(checks.wait_until(good, PATIENCE_S), what)


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_certificate(folder, name, authority=None, alternative="DNS:localhost,IP:127.0.0.1"):
    """Writes folder/NAME.pem and NAME.key, signed by itself or by an authority that was created before."""
    openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")
    if authority is None:
        openssl(folder, "req", "-x509", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-days", "1", "-out", f"{name}.pem")
        return
    openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
            "-CAcreateserial", "-days", "1", "-extfile", f"{name}.ext", "-out", f"{name}.pem")


def user(tsdb, folder, *words, given=""):
    done = subprocess.run([tsdb, "user", "--file", folder / "users", *words], input=given, text=True, capture_output=True)
    check(done.returncode == 0, done.stderr)
    return done.stdout.strip()


def basic(name, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


class Guarded(daemons.Daemon):
    """A daemon with the users ann (read), boss (admin) and agents (write, by token), and TLS on a second port."""

    def __init__(self, tsdb, folder, settings=None):
        for name in ("authority", "stranger"):
            make_certificate(folder, name)
        make_certificate(folder, "server", "authority")
        user(tsdb, folder, "add", "ann", "read", given=PASSWORD + "\n")
        user(tsdb, folder, "add", "boss", "admin", given=PASSWORD + "!\n")
        user(tsdb, folder, "add", "--no-password", "agents", "write")
        self.token = user(tsdb, folder, "token", "agents")
        self.tls_port = daemons.free_port()
        super().__init__(tsdb, folder, {
            "tsd.core.authentication.enable": "true", "tsd.core.authentication.users": folder / "users",
            "tsd.network.tls.certificate": folder / "server.pem", "tsd.network.tls.key": folder / "server.key",
            "tsd.network.tls.port": self.tls_port, "tsd.network.tls.clients": "optional",
            "tsd.network.tls.authorities": folder / "authority.pem", **(settings or {})})

    def get(self, path, timeout=60):
        # Waits until the daemon answers anything other than that it is starting.
        try:
            return super().get(path, timeout)
        except daemons.Refused as refused:
            if refused.status == 503:
                raise
            return refused.status

    def context(self, own=None):
        context = ssl.create_default_context(cafile=self.folder / "authority.pem")
        if own:
            context.load_cert_chain(self.folder / f"{own}.pem", self.folder / f"{own}.key")
        return context

    def say(self, path, fields=None, body=None, tls=True, own=None):
        """Sends a request over a new connection; returns (status, body)."""
        url = f"https://localhost:{self.tls_port}{path}" if tls else f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, headers=fields or {}, data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S, context=self.context(own) if tls else None) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def raw_tls(self):
        """A socket connected to the TLS port, without a handshake."""
        return socket.create_connection(("127.0.0.1", self.tls_port), PATIENCE_S)

    def bearer(self, token=None):
        return {"Authorization": f"Bearer {token or self.token}"}

    def log(self):
        return (self.folder / "tsd.log").read_text()

    def hang_up(self):
        """Sends SIGHUP and waits until the daemon has handled it."""
        before = self.log().count("dropped the cached names")
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.log().count("dropped the cached names") > before, "SIGHUP was not heard")


@case
def users_write_and_read_over_tls_and_plainly(server, tsdb, folder):
    for tls in (True, False):
        check(server.say("/api/version", tls=tls)[0] == 401, "a stranger")
        check(server.say("/api/put", server.bearer(), POINT, tls=tls)[0] == 204, "a token writes")
        check(server.say("/api/query?start=1&m=sum:m", server.bearer(), tls=tls)[0] == 403, "and does not read")
        status, body = server.say("/api/query?start=1&end=1700000001&m=sum:m", basic("ann", PASSWORD), tls=tls)
        check(status == 200 and json.loads(body)[0]["dps"] == {"1700000000": 1}, body)
        check(server.say("/", basic("ann", PASSWORD), tls=tls)[0] == 200, "the page")
        check(server.say("/api/put", basic("ann", PASSWORD), POINT, tls=tls)[0] == 403, "a reader writes")
        check(server.say("/logs", basic("ann", PASSWORD + "!"), tls=tls)[0] == 401, "another's password")
    refused = lambda: server.say("/logs?secret", basic("ann", PASSWORD + "!"))[0]  # noqa: E731
    until(lambda: refused() == 401 and "credentials were refused component=access remote=127.0.0.1:" in server.log(), "the log tells it")
    check("status=401 method=GET path=/logs" in server.log() and "?secret" not in server.log(), "and what was asked for")


@case
def a_line_client_over_tls_says_who_it_is(server, tsdb, folder):
    with server.context().wrap_socket(server.raw_tls(), server_hostname="localhost") as client:
        client.sendall(f"version\nauth bearer {server.token}\nput m 1700000001 2 host=b\nexit\n".encode())
        said = b""
        while piece := client.recv(65536):
            said += piece
    check(said == b"AUTH_FAIL\r\nAUTH_SUCCESS\r\n", said)


@case
def a_certificate_is_its_user(server, tsdb, folder):
    make_certificate(folder, "agents", "authority")
    make_certificate(folder, "someone", "authority")
    check(server.say("/api/put", None, POINT, own="agents")[0] == 204, "the user of that name")
    check(server.say("/api/put", None, POINT, own="someone")[0] == 401, "a name that is none's")


@case
def users_and_certificates_are_read_anew_at_SIGHUP(server, tsdb, folder):
    token = user(tsdb, folder, "token", "agents")
    check(server.say("/api/put", server.bearer(token), POINT)[0] == 401, "before SIGHUP")
    make_certificate(folder, "second", "authority")
    for ending in ("pem", "key"):
        (folder / f"server.{ending}").write_bytes((folder / f"second.{ending}").read_bytes())
    server.hang_up()
    until(lambda: server.say("/api/put", server.bearer(token), POINT)[0] == 204, "after SIGHUP")

    def name_of_certificate():
        with server.context().wrap_socket(server.raw_tls(), server_hostname="localhost") as client:
            return dict(pair[0] for pair in client.getpeercert()["subject"])["commonName"]

    until(lambda: name_of_certificate() == "second", "the certificate after SIGHUP")
    (folder / "users").write_text("ann\n")
    server.hang_up()
    until(lambda: "the file of users cannot be read; the previous users stay valid" in server.log(), server.log())
    check(server.say("/api/put", server.bearer(token), POINT)[0] == 204, "a broken file ended what was")


@case
def nothing_that_can_be_asked_for_tells_a_secret(server, tsdb, folder):
    boss = basic("boss", PASSWORD + "!")
    server.say("/api/query?start=1&m=sum:m", boss)
    server.say("/api/put", server.bearer(), POINT)
    for path in ("/write", "/query", "/nothing"):
        server.say(path + "?q=x&" + urllib.parse.urlencode({"u": "boss", "p": PASSWORD + "!"}), body={})
    told = b"".join(server.say(path, boss)[1] for path in ("/api/config", "/api/stats/query", "/logs", "/api/stats"))
    secrets = [PASSWORD, urllib.parse.quote_plus(PASSWORD), server.token, boss["Authorization"].split()[1], "$y$", "PRIVATE KEY"]
    for secret in secrets:
        check(secret.encode() not in told, f"{secret} is told")
        check(secret not in server.log(), f"{secret} is in the log")


def tool(tsdb, folder, *words, variables=None):
    return subprocess.run([tsdb, *words, f"--config={folder / 'tsd.conf'}"], text=True, capture_output=True,
                          env={**os.environ, **(variables or {})}, timeout=PATIENCE_S)


@case
def tools_ask_a_guarded_daemon_as_somebody_over_TLS(server, tsdb, folder):
    (folder / "boss").write_text(f"boss:{PASSWORD}!\n")
    (folder / "agents").write_text(server.token + "\n")
    url = f"https://localhost:{server.tls_port}"
    admin = ("table", "--url", url, "list")
    trusting = (*admin, "--ca-file", folder / "authority.pem")
    done = tool(tsdb, folder, *trusting, "--credentials-file", folder / "boss")
    check(done.returncode == 0 and '"table":"tsdb"' in done.stdout, done.stderr)
    for words, word in (((*admin, "--credentials-file", folder / "boss"), "certificate verify failed"),
                        ((*admin, "--ca-file", folder / "stranger.pem"), "certificate verify failed"),
                        (trusting, "answered 401"),
                        ((*trusting, "--credentials-file", folder / "agents"), "answered 403"),
                        ((*trusting, "--credentials-file", folder / "none"), "none")):
        refused = tool(tsdb, folder, *words)
        check(refused.returncode == 1 and word in refused.stderr, f"{words}: {refused.stderr}")
    said = {"TSDB_CREDENTIALS": f"boss:{PASSWORD}!", "TSDB_CA_FILE": str(folder / "authority.pem")}
    done = tool(tsdb, folder, *admin, variables=said)
    check(done.returncode == 0, done.stderr)
    for name in ("boss", "strange_boss"):
        make_certificate(folder, name, "authority" if name == "boss" else "stranger")
    shows = lambda name: ("--cert-file", folder / f"{name}.pem", "--key-file", folder / f"{name}.key")  # noqa: E731
    done = tool(tsdb, folder, *trusting, *shows("boss"))
    check(done.returncode == 0 and '"table":"tsdb"' in done.stdout, done.stderr)
    done = tool(tsdb, folder, *trusting, variables={"TSDB_CERT_FILE": str(folder / "boss.pem"), "TSDB_KEY_FILE": str(folder / "boss.key")})
    check(done.returncode == 0, done.stderr)
    (folder / "both.pem").write_text((folder / "boss.pem").read_text() + (folder / "boss.key").read_text())
    check(tool(tsdb, folder, *trusting, "--cert-file", folder / "both.pem").returncode == 0, "certificate and key in one file")
    for words, word in ((("--cert-file", folder / "boss.pem"), "boss.pem"), (("--key-file", folder / "boss.key"), "without a certificate"),
                        (("--cert-file", folder / "boss.pem", "--key-file", folder / "authority.key"), "authority.key"),
                        (shows("strange_boss"), "")):
        refused = tool(tsdb, folder, *trusting, *words)
        check(refused.returncode == 1 and word in refused.stderr, f"{words}: {refused.stderr}")
    make_certificate(folder, "server", "authority", "DNS:other.example.org")
    server.hang_up()
    until(lambda: "certificate verify failed" in tool(tsdb, folder, *trusting).stderr, "another's certificate is taken")


@case
def a_daemon_that_is_open_to_others_says_so(server, tsdb, folder):
    tls = {"tsd.network.tls.certificate": folder / "server.pem", "tsd.network.tls.key": folder / "server.key",
           "tsd.network.tls.port": 0, "tsd.network.tls.clients": "required", "tsd.network.tls.authorities": folder / "authority.pem"}
    for settings, warns in (({}, False), ({"tsd.network.bind": "0.0.0.0"}, True),
                            ({**tls, "tsd.network.tls.bind": "0.0.0.0"}, False),
                            ({**tls, "tsd.network.tls.bind": "0.0.0.0", "tsd.network.tls.clients": "optional"}, True),
                            ({**tls, "tsd.network.tls.bind": "127.0.0.1", "tsd.network.bind": "0.0.0.0"}, True)):
        with tempfile.TemporaryDirectory() as other:
            plain = daemons.Daemon(tsdb, Path(other), settings)
            plain.start()
            plain.stop()
            check(("may read, write and delete everything" in plain.log_tail()) == warns, plain.log_tail())
    check("may read, write and delete everything" not in server.log(), "with authentication")


@case
def a_daemon_with_users_but_without_authentication_says_so(server, tsdb, folder):
    with tempfile.TemporaryDirectory() as other:
        plain = daemons.Daemon(tsdb, Path(other), {"tsd.core.authentication.users": folder / "users"})
        plain.start()
        plain.stop()
        check("the users of tsd.core.authentication.users have no effect" in plain.log_tail(), plain.log_tail())
    check("have no effect" not in server.log(), "with authentication")


@case
def a_daemon_without_its_users_does_not_start(server, tsdb, folder):
    (folder / "broken").write_text("ann:reed:\n")
    on = {"tsd.core.authentication.enable": "true"}
    for settings, word in ((on, "tsd.core.authentication.users"),
                           ({"tsd.core.authentication.enable": "on", "tsd.core.authentication.users": folder / "users"}, "= \"on\""),
                           ({**on, "tsd.core.authentication.users": folder / "none"}, "none"),
                           ({**on, "tsd.core.authentication.users": folder / "broken"}, "line 1"),
                           ({"tsd.network.tls.certificate": folder / "server.pem"}, "tsd.network.tls.key"),
                           ({"tsd.network.tls.port": "1"}, "tsd.network.tls.certificate"),
                           ({**on, "tsd.core.authentication.users": folder / "users", "tsd.graphite.port": "0"}, "tsd.graphite.anonymous")):
        with tempfile.TemporaryDirectory() as other:
            unable = daemons.Daemon(tsdb, Path(other), settings)
            try:
                unable.start()
            except RuntimeError as error:
                check(word in str(error), error)
            else:
                unable.kill()
                raise AssertionError(f"it started with {settings}")


def run(tsdb, work):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Guarded(tsdb, folder)
        server.start()
        try:
            work(server, tsdb, folder)
            check(server.stop() == 0, "it did not stop cleanly: " + server.log_tail())
        finally:
            server.kill()


def main():
    tsdb = Path(sys.argv[1]).resolve()
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    passed = failed = 0
    for work in CASES:
        if only not in work.__name__:
            continue
        try:
            run(tsdb, work)
            passed += 1
        except Exception as error:  # of any kind: the case has failed
            failed += 1
            print(f"FAIL {work.__name__}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
