"""A port in front of the daemon that passes everything on and records it."""
import socket
import threading
import time

import wire

READ_BYTES = 1 << 16
DRAIN_S = 120


class Connection:
    """One client's connection: everything that it sent and was answered. Each list is written by one thread only."""

    def __init__(self):
        self.sent, self.answered = bytearray(), bytearray()
        self.threads = []

    def over(self):
        return not any(thread.is_alive() for thread in self.threads)


class Relay:
    """Passes connections on to the daemon. While the daemon is down, connections are closed at once, like refused ones."""

    def __init__(self, port):
        self.target = port
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 20)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            connection = Connection()
            connection.threads = [
                threading.Thread(target=carry, args=(client, server, connection.sent), daemon=True),
                threading.Thread(target=carry, args=(server, client, connection.answered), daemon=True)]
            connection.sockets = (client, server)
            self.connections.append(connection)
            for thread in connection.threads:
                thread.start()

    def drain(self):
        """Waits until every client has closed its connection and the daemon has read everything."""
        until = time.monotonic() + DRAIN_S
        for connection in self.connections:
            for thread in connection.threads:
                thread.join(max(0.0, until - time.monotonic()))
        if not all(connection.over() for connection in self.connections):
            raise RuntimeError("a connection stays open although its client was ended")

    def points(self):
        """Returns {key: value} of all that was sent; call it when every client has closed its connection."""
        self.drain()
        sent = {}
        for connection in self.connections:
            sent.update(wire.points(connection.sent))
        return sent

    def close(self):
        self.listener.close()
        for connection in self.connections:
            for end in connection.sockets:
                end.close()


def carry(source, target, kept):
    """Copies from the source until it ends. What the target no longer accepts is not recorded, because it did not arrive."""
    try:
        while data := source.recv(READ_BYTES):
            target.sendall(data)
            kept += data
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
