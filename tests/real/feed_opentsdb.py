"""Runs in an environment with opentsdb-py: gives it known numbers for one of its protocols (telnet, http), prints each as a JSON
array, and finally prints the client's own counts.

    feed_opentsdb.py PROTOCOL PORT SECONDS
"""
import json
import sys
import time

from opentsdb import TSDBClient

INTERVAL_S = 0.2
HOSTS = 10


def tell(point):
    print(json.dumps([point["metric"], point["timestamp"] * 1000, point["value"], point["tags"]]))


def main(protocol, port, seconds):
    client = TSDBClient("127.0.0.1", int(port), protocol=protocol.upper(), static_tags={"way": protocol}, host_tag=False)
    first = int(time.time()) - 3600
    rounds = int(float(seconds) / INTERVAL_S)
    for n in range(rounds):
        for host in range(HOSTS):
            tags = {"host": f"web{host}", "timestamp": first + n}
            tell(client.send("py.whole", n * HOSTS + host, **tags))
            tell(client.send("py.part", n / 3 + host, **tags))
        time.sleep(INTERVAL_S)
    client.close()
    client.wait()
    print(json.dumps(client.statuses))


if __name__ == "__main__":
    main(*sys.argv[1:])
