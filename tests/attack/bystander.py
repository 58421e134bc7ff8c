"""Another tenant's client, in a process of its own: `python -m tests.attack.bystander URL`.

It sends a request every 20 ms until its standard input closes, then prints how long each took. A
client inside the attacker's process would wait for the attacker as well. The key is on the first
line of standard input, because command lines can be read by others.
"""

import http.client
import json
import sys
import threading
import time
from urllib.parse import urlsplit

INTERVAL_S = 0.02
# Not the attacker's: an address with too many connections loses its own idle ones.
ADDRESS = "127.0.0.2"
# A request that takes longer than this has no answer.
STUCK_S = 60.0


def main() -> None:
    key = sys.stdin.readline().strip()
    over = threading.Event()
    threading.Thread(target=wait_for_end, args=(over,), daemon=True).start()
    where = urlsplit(sys.argv[1])
    connection = http.client.HTTPConnection(
        where.hostname or "", where.port, timeout=STUCK_S, source_address=(ADDRESS, 0)
    )
    samples: list[float] = []
    ask(connection, key)
    say("ready")
    is_over = False
    while not is_over:
        samples.append(ask(connection, key))
        is_over = over.wait(INTERVAL_S)
    say(json.dumps(samples))


def wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ask(connection: http.client.HTTPConnection, key: str) -> float:
    """Milliseconds until the answer; more than any if it is a refusal."""
    began = time.perf_counter()
    connection.request("GET", "/v1/whoami", headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    answer.read()
    took = (time.perf_counter() - began) * 1000
    return took if answer.status == 200 else STUCK_S * 1000


if __name__ == "__main__":
    main()
