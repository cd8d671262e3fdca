"""A thread of a deployment that encrypts: its records are checkpoints, and what they say is the value of `note`."""

import json
import os
import uuid

import httpx
from agmi.adapters.base import MemoryAdapter, Record
from stored_rows import StoredRows

TABLES = ["thread", "thread_state", "checkpoint", "checkpoint_blob", "checkpoint_write"]
ENCRYPTED = "+aes"


class EncryptedThread(MemoryAdapter):
    """Changes a note by its encrypted bytes, since nobody without the key can do better with them."""

    name = "encrypted thread"
    detection_point = "read"
    # The edits of the kit that are tried; None: all.
    edits = None
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    def __init__(self):
        self._client = httpx.Client(
            base_url=os.environ["DEPLOYMENT_URL"], headers={"x-api-key": os.environ["API_KEY"]}, timeout=30
        )
        self._rows = StoredRows(os.environ["DEPLOYMENT_DATABASE_URL"])
        self._threads = []

    def setup(self):
        self._threads = [self._create_thread()]

    def teardown(self):
        for thread in self._threads:
            self._client.delete(f"/threads/{thread}").raise_for_status()

    def seed(self, n):
        for index in range(n):
            self._put(self._threads[0], f"a note {index}")

    def seed_other(self, n):
        self._threads.append(self._create_thread())
        for index in range(n):
            self._put(self._threads[1], f"a note of somebody else {index}")

    def append_genuine(self):
        self._put(self._threads[0], "a later note")

    def read_all_raw(self):
        return self._read(self._threads[0])

    def read_other_raw(self):
        return self._read(self._threads[1])

    def write_raw(self, record):
        records = self.read_all_raw()
        if record.seq < len(records):
            self.replay_onto(record.seq, record)
            return
        self._rows.insert("checkpoint", record.fields["checkpoint"])
        self._rows.insert("checkpoint_blob", record.fields["blob"])

    def replay_onto(self, victim_seq, donor):
        blob, place = donor.fields["blob"], self.read_all_raw()[victim_seq].fields["blob"]
        self._rows.execute(
            "UPDATE checkpoint_blob SET type = %s, data = %s::bytea"
            " WHERE thread_id = %s AND checkpoint_id = %s AND channel = 'note'",
            [blob["type"], blob["data"], place["thread_id"], place["checkpoint_id"]],
        )

    def delete_raw(self, seq):
        self._rows.execute(
            "DELETE FROM checkpoint WHERE thread_id = %s AND checkpoint_id = %s",
            [self._threads[0], self._checkpoint_id(seq)],
        )

    def mutate_payload(self, record):
        blob = record.fields["blob"]
        last = format(int(blob["data"][-1], 16) ^ 1, "x")
        record.fields["blob"] = {**blob, "data": blob["data"][:-1] + last}
        return record

    def forge_record(self, template):
        checkpoint, blob = template.fields["checkpoint"], template.fields["blob"]
        later = str(uuid.UUID(int=uuid.UUID(checkpoint["checkpoint_id"]).int + (1 << 64)))
        blobs = {**checkpoint["channel_blobs"], "note": [blob["version"], later]}
        fields = {
            "checkpoint": {
                **checkpoint,
                "checkpoint_id": later,
                "parent_checkpoint_id": checkpoint["checkpoint_id"],
                "channel_blobs": blobs,
            },
            "blob": {**blob, "checkpoint_id": later},
        }
        return self.mutate_payload(Record(seq=template.seq + 1, fields=fields))

    def read_meta(self, seq):
        return self.read_all_raw()[seq].fields["checkpoint"]["metadata"]

    def write_meta(self, seq, meta):
        text = json.dumps(meta)
        self._rows.execute(
            "UPDATE checkpoint SET metadata = %s::jsonb, metadata_data = convert_to(%s, 'utf8')"
            " WHERE thread_id = %s AND checkpoint_id = %s",
            [text, text, self._threads[0], self._checkpoint_id(seq)],
        )

    def identity_of(self, record):
        return record.fields["checkpoint"]["checkpoint_id"]

    def payload_of(self, record):
        return json.dumps([record.fields["blob"]["type"], record.fields["blob"]["data"]])

    def owner_of(self, record):
        return record.fields["checkpoint"]["thread_id"]

    def snapshot_store(self):
        return self._rows.copy(TABLES, "thread_id = %s", [self._threads[0]])

    def restore_store(self, token):
        self._rows.restore(token, "thread_id = %s", [self._threads[0]])

    def reload(self):
        """Each request reads the database."""

    def verify(self):
        thread = f"/threads/{self._threads[0]}"
        for path in (thread, f"{thread}/state", f"{thread}/history?limit=100"):
            answer = self._client.get(path)
            if answer.status_code != 200 or "__error__" in answer.text:
                self.verify_detail = f"{path.removeprefix(thread)} {answer.status_code}: {answer.text[:160]}"
                return False
        return True

    def _create_thread(self):
        created = self._client.post("/threads", json={"metadata": {"graph_id": "notes"}})
        return created.raise_for_status().json()["thread_id"]

    def _put(self, thread, note):
        update = {"values": {"note": note}, "as_node": "keep"}
        self._client.post(f"/threads/{thread}/state", json=update).raise_for_status()

    def _read(self, thread):
        found = self._rows.query(
            """SELECT to_jsonb(c), to_jsonb(b) FROM checkpoint c JOIN checkpoint_blob b
                 ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = 'note'
                AND b.version = c.channel_blobs -> 'note' ->> 0 AND b.checkpoint_id = c.channel_blobs -> 'note' ->> 1
               WHERE c.thread_id = %s ORDER BY c.checkpoint_id""",
            [thread],
        )
        return [Record(seq, {"checkpoint": checkpoint, "blob": blob}) for seq, (checkpoint, blob) in enumerate(found)]

    def _checkpoint_id(self, seq):
        return self.read_all_raw()[seq].fields["checkpoint"]["checkpoint_id"]


class PlainTextInEncryptedThread(EncryptedThread):
    """Puts plain text in the place of encrypted bytes, in the form of rows from before there was a key."""

    name = "encrypted thread, plain text in its place"
    edits = ["tamper", "forge"]

    def mutate_payload(self, record):
        blob = record.fields["blob"]
        text = json.dumps("a note of an intruder").encode().hex()
        record.fields["blob"] = {**blob, "type": blob["type"].removesuffix(ENCRYPTED), "data": f"\\x{text}"}
        return record
