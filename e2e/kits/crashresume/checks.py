"""Runs crashresume against threads of a deployment, and prints each of its crash points as a line.

An effect is a request of the project's code with an idempotency key. At a crash point it is taken, and the process that
sent it is killed before it gets the answer. Its key may then come again: that is what such keys are for. With
`durability: sync` no other one may, because every step before it is stored. With `async` and `exit` steps before it may
be repeated, as LangGraph says: keys are compared with all that came, and the run has to end as without the crash.
"""

import json
import os
import signal
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from crashresume import conform
from crashresume.core import InjectedCrash

DURABILITY = os.environ["DURABILITY"]
KILLED = os.environ["KILLED"]
ITEMS = ["one", "two"]
PAUSE_SECONDS = 0.05
# A killed worker's runs are taken after its lease, by one that is started again.
RUN_SECONDS = 90

client = httpx.Client(
    base_url=os.environ["DEPLOYMENT_URL"], headers={"x-api-key": os.environ["API_KEY"]}, timeout=30
)


class Thread:
    """A thread as the subject of the kit: a step is a run, which goes on by itself after a crash."""

    current = None
    # Thread and key of each effect whose sender was killed before it got the answer.
    unanswered = set()

    def __init__(self, ctx):
        self.ctx = ctx
        self.id = str(uuid.uuid5(uuid.NAMESPACE_URL, ctx.run_id))
        self.crashed = threading.Event()
        self.statuses = []
        Thread.current = self

    def step(self, item):
        run = self._create_run(item)
        deadline = time.monotonic() + RUN_SECONDS
        while run["status"] in ("pending", "running") and time.monotonic() < deadline:
            if self.crashed.is_set():
                raise InjectedCrash(item)
            time.sleep(PAUSE_SECONDS)
            run = client.get(f"/threads/{self.id}/runs/{run['run_id']}").raise_for_status().json()
        self.statuses.append(run["status"])

    def state(self):
        values = client.get(f"/threads/{self.id}/state").raise_for_status().json()["values"]
        return {"done": values["done"], "runs": self.statuses}

    def take(self, effect):
        """Returns whether the sender gets an answer."""
        key = effect["key"]
        if DURABILITY == "sync":
            is_known = (self.id, key) in Thread.unanswered
        else:
            is_known = key in self.ctx.effects.keys()
        Thread.unanswered.discard((self.id, key))
        if is_known:
            return True
        try:
            self.ctx.effect(effect["kind"], key=key)
        except InjectedCrash:
            Thread.unanswered.add((self.id, key))
            os.kill(effect[KILLED], signal.SIGKILL)
            self.crashed.set()
            return False
        return True

    def _create_run(self, item):
        """Creates the run of an item, or returns the one that there is, by its idempotency key."""
        body = {
            "assistant_id": "effects",
            "input": {"item": item, "effects": f"http://127.0.0.1:{server.server_port}"},
            "if_not_exists": "create",
            "durability": DURABILITY,
        }
        headers = {"idempotency-key": f"{self.id}/{item}"}
        created = client.post(f"/threads/{self.id}/runs", json=body, headers=headers).raise_for_status().json()
        return client.get(f"/threads/{self.id}/runs/{created['run_id']}").raise_for_status().json()


class EffectHandler(BaseHTTPRequestHandler):
    lock = threading.Lock()

    def do_POST(self):
        effect = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with EffectHandler.lock:
            # Between a crash and the next start there is no subject: the one that has crashed takes nothing.
            while Thread.current.crashed.is_set():
                time.sleep(PAUSE_SECONDS)
            if effect["thread"] != Thread.current.id:
                self.send_error(409)
                return
            is_answered = Thread.current.take(effect)
        if is_answered:
            self.send_response(204)
            self.end_headers()
        else:
            # What was killed must not see a closed connection while it ends.
            time.sleep(1)

    def log_message(self, *_args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), EffectHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
report = conform(Thread, ITEMS)
for point in range(1, report.crash_points + 1):
    findings = [f"{finding.kind}: {finding.detail}" for finding in report.findings if finding.crash_after == point]
    name = f"{DURABILITY}, {KILLED} killed after effect {point}"
    print(json.dumps({"name": name, "outcome": "failed" if findings else "passed", "detail": "\n".join(findings)}))
