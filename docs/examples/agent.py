"""An agent beside a broker: it joins with a lease, opens and closes the links it is told, and acknowledges.

TOPICWEAVE_API_KEY=... .venv/bin/python docs/examples/agent.py http://127.0.0.1:8080 broker-7 /sensing/lidar /tf
"""

import contextlib
import os
import signal
import sys
import time
from urllib.parse import quote

import httpx2

TTL = 60  # seconds; the stream is never silent for more than 15, and every sign of life renews the lease


def open_link(other: str) -> str:
    print("open", other, flush=True)  # your broker's own call goes here
    return ""  # or why it could not be opened


def close_links(others: set[str]) -> None:
    for other in others:
        print("close", other, flush=True)  # and here


class Agent:
    def __init__(self, api: str, broker: str, *topics: str) -> None:
        self.broker, self.topics, self.open = broker, topics, set[str]()
        self.path = f"/brokers/{quote(broker, safe='')}"
        # The key is no argument of the program: those are for every user of the machine to see.
        self.http = httpx2.Client(
            base_url=f"{api}/v1", headers={"X-API-Key": os.environ["TOPICWEAVE_API_KEY"]}, timeout=40
        )

    def ask(self, method: str, path: str, **body: object) -> dict:
        return self.http.request(method, self.path + path, json=body or None).raise_for_status().json()

    def join(self) -> dict:
        # 409: it never left, we were restarted or cut off for a while. Any other refusal meets the next call too.
        self.http.post("/brokers", json={"id": self.broker, "topics": self.topics, "ttl_seconds": TTL})
        self.ask("PUT", "/topics", topics=self.topics)
        return self.ask("GET", "")

    def follow(self, known: dict) -> None:
        with self.http.stream(
            "GET", "/events", params={"broker": self.broker, "after": known["version"]}
        ) as events:
            for line in events.raise_for_status().iter_lines():
                if line.startswith("data: "):  # a change of this broker or of its links: what is wanted now?
                    known = self.ask("GET", "")
                elif line.startswith("id: "):  # ends every change and ping, the first at once
                    self.keep({link["broker"] for link in known["links"]}, int(line.removeprefix("id: ")))

    def keep(self, wanted: set[str], version: int) -> None:
        """Open first, then close, so that every topic stays connected; then say so."""
        self.ask("POST", "/heartbeat", ttl_seconds=TTL)  # 404: the lease had expired
        failed = {other: reason for other in wanted - self.open if (reason := open_link(other))}
        close_links(self.open - wanted)
        self.open = wanted - failed.keys()
        for other, reason in failed.items():  # what is planned instead comes as an event
            time.sleep(1)  # where much fails, the overlay must not change as fast as we can try
            # 409: its topics have no other way yet; the next event tries again.
            body = {"link": [self.broker, other], "reason": reason}
            print(reason, self.http.post(f"{self.path}/failures", json=body).status_code, file=sys.stderr)
        if not failed:
            self.ask("POST", "/acks", version=version)

    def run(self) -> None:
        try:
            # A lost connection, 410, an expired lease: join again, read what is wanted now, go on.
            while True:
                try:
                    self.follow(self.join())
                except httpx2.HTTPError as error:
                    print(error, file=sys.stderr, flush=True)
                time.sleep(1)
        except KeyboardInterrupt:
            with contextlib.suppress(httpx2.HTTPError):  # gone already, or the API is: the lease will end it
                self.ask("DELETE", "")  # the others mend what this breaks
            close_links(self.open)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what stops a service stops it as Ctrl-C does
    Agent(*sys.argv[1:]).run()
