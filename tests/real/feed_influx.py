"""Runs in an environment with InfluxDB's clients: gives known numbers to the client of version 1 (influxdb) or 2 (influxdb-client),
prints each as a JSON array, and finally prints how many batches failed.

    feed_influx.py v1|v2 PORT SECONDS
"""
import json
import sys
import time

INTERVAL_S = 0.2
HOSTS = 10


def numbers(n, host):
    """The n-th measurement of one host, by field; text fields are not stored, and neither are their names."""
    return {"value": n * HOSTS + host, "part": n / 3 + host, "whole": float(n), "up": n % 2 == 0, "state": 'in "order", now'}


def tell(way, at_ms, tags, fields):
    for field, value in fields.items():
        if not isinstance(value, str):
            metric = f"py {way}" + ("" if field == "value" else "." + field)
            print(json.dumps([metric, at_ms, int(value) if isinstance(value, bool) else value, tags]))


class Version1:
    def __init__(self, port):
        from influxdb import InfluxDBClient
        self.client = InfluxDBClient("127.0.0.1", port, database="py", gzip=True)
        self.client.ping()
        self.client.create_database("py")
        self.failed = 0

    def write(self, batch):
        self.failed += not self.client.write_points(
            [{"measurement": "py v1", "tags": tags, "fields": fields, "time": at_ms} for at_ms, tags, fields in batch],
            time_precision="ms")

    def close(self):
        self.client.close()


class Version2:
    """The client of version 2, which writes its batches in threads of its own."""

    def __init__(self, port):
        from influxdb_client import InfluxDBClient, WriteOptions
        self.client = InfluxDBClient(f"http://127.0.0.1:{port}", token="t", org="o", enable_gzip=True)
        self.failed = 0 if self.client.ping() else 1
        self.writer = self.client.write_api(WriteOptions(batch_size=25, flush_interval=300),
                                            error_callback=self.note_failure)

    def note_failure(self, *_):
        self.failed += 1

    def write(self, batch):
        from influxdb_client import Point, WritePrecision
        for at_ms, tags, fields in batch:
            point = Point("py v2").time(at_ms // 1000, WritePrecision.S)
            for name, value in tags.items():
                point.tag(name, value)
            for name, value in fields.items():
                point.field(name, value)
            self.writer.write(bucket="py", record=point, write_precision=WritePrecision.S)

    def close(self):
        self.writer.close()
        self.client.close()


def main(way, port, seconds):
    client = {"v1": Version1, "v2": Version2}[way](int(port))
    first_ms, step_ms = (int(time.time()) - 3600) * 1000, 250 if way == "v1" else 1000
    for n in range(int(float(seconds) / INTERVAL_S)):
        batch = [(first_ms + n * step_ms, {"host": f"web {host}", "path": "a=b,c"}, numbers(n, host)) for host in range(HOSTS)]
        for each in batch:
            tell(way, *each)
        client.write(batch)
        time.sleep(INTERVAL_S)
    client.close()
    print(json.dumps({"failed": client.failed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
