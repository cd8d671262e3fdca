"""A graph host of two hundred lines, without dependencies: it is written from the page about the protocol alone.

It runs "graphs" that are lists of functions, one after the other: each gets the state, a dict, and returns changes.
"""
import asyncio
import importlib.util
import json
import socket
import struct
import sys
import uuid

MAX_PIECE = 256 * 1024 - 4
LAST_PIECE = 0x8000_0000


class Frames:
    """Cuts messages into frames, and puts them together again."""

    def __init__(self):
        self.pending = bytearray()
        self.pieces = {}
        self.next_stream = 1

    def encode(self, header, raw=b""):
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        message = struct.pack(">I", len(text)) + text + raw
        if len(message) <= MAX_PIECE:
            return [struct.pack(">II", len(message) + 4, 0) + message]
        stream, self.next_stream = self.next_stream, self.next_stream + 1
        frames = []
        for at in range(0, len(message), MAX_PIECE):
            piece = message[at : at + MAX_PIECE]
            mark = LAST_PIECE if at + MAX_PIECE >= len(message) else 0
            frames.append(struct.pack(">II", len(piece) + 4, stream | mark) + piece)
        return frames

    def decode(self, data):
        self.pending += data
        while len(self.pending) >= 8:
            length, stream = struct.unpack_from(">II", self.pending)
            if len(self.pending) < length + 4:
                return
            piece = bytes(self.pending[8 : length + 4])
            del self.pending[: length + 4]
            number = stream & ~LAST_PIECE
            if number == 0:
                yield self.message(piece)
                continue
            self.pieces.setdefault(number, []).append(piece)
            if stream & LAST_PIECE:
                yield self.message(b"".join(self.pieces.pop(number)))

    @staticmethod
    def message(data):
        (length,) = struct.unpack_from(">I", data)
        return json.loads(data[4 : 4 + length]), data[4 + length :]


class HostError(Exception):
    def __init__(self, kind, message, **fields):
        super().__init__(message)
        self.body = {"kind": kind, "error": type(self).__name__, "message": message, **fields}


class Host:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.frames = Frames()
        self.answers = {}
        self.graphs = {}
        self.tasks = set()

    def send(self, t, raw=b"", **fields):
        self.writer.writelines(self.frames.encode({"t": t, **fields}, raw))

    async def ask(self, t, raw=b"", **fields):
        number = len(self.answers) + 1
        self.answers[number] = asyncio.get_running_loop().create_future()
        self.send(t, raw, id=number, **fields)
        return await self.answers[number]

    async def serve(self):
        self.send("hello", protocol=1, protocols=[1], language="python", runtime="python " + sys.version.split()[0])
        while data := await self.reader.read(1 << 20):
            for header, raw in self.frames.decode(data):
                if header["t"] == "answer":
                    self.take_answer(header, raw)
                else:
                    task = asyncio.create_task(self.receive(header))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)

    def take_answer(self, header, raw):
        future = self.answers[header["id"]]
        if "error" in header:
            future.set_exception(HostError(header["error"]["kind"], header["error"]["message"]))
        else:
            future.set_result((header["ok"], raw))

    async def receive(self, header):
        if header["t"] == "run.start":
            await self.run(header["use"], header["request"], header["hasCheckpoints"])
        elif "id" in header:
            try:
                self.send("answer", id=header["id"], ok=self.answer(header))
            except HostError as error:
                self.send("answer", id=header["id"], error=error.body)
            if header["t"] == "shutdown":
                await self.writer.drain()
                self.writer.close()
                await self.writer.wait_closed()
                self.reader.feed_eof()

    def answer(self, header):
        if header["t"] == "init":
            return [self.load(graph) for graph in header["project"]["graphs"]]
        if header["t"] in ("ping", "shutdown"):
            return None
        raise HostError("unsupported", "unknown message type " + header["t"])

    def load(self, graph):
        try:
            spec = importlib.util.spec_from_file_location("project", graph["file"])
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.graphs[graph["graphId"]] = getattr(module, graph["symbol"])
        except Exception as error:
            raise HostError("load", str(error), graphId=graph["graphId"]) from error
        return {"graphId": graph["graphId"], "isFactory": False}

    async def run(self, use, request, has_checkpoints):
        steps = self.graphs.get(request["graphId"])
        if steps is None:
            error = HostError("not_found", "The project has no graph " + request["graphId"]).body
            self.settle(use, "failed", error=error)
            return
        self.send("run.begun", use=use)
        thread = Thread(self, use, request) if has_checkpoints else None
        state = await thread.load() if thread else {}
        try:
            state = {**state, **(request.get("input") or {})}
            for number, step in enumerate(steps):
                state = {**state, **step(state)}
                if thread:
                    await thread.put(state, number)
                if "values" in request["streamModes"]:
                    text = encode(state)
                    self.send("run.events", text, use=use, events=[["values", "values", len(text)]])
            self.settle(use, "done", state, checkpoint=thread and thread.checkpoint)
        except Exception as error:
            self.settle(use, "failed", error={"kind": "failed", "error": type(error).__name__, "message": str(error)})

    def settle(self, use, kind, values=None, checkpoint=None, error=None):
        text = b"" if values is None else encode(values)
        fields = {"kind": kind, "next": [], "checkpointId": checkpoint, "interruptsBytes": None}
        if error:
            fields["error"] = error
        self.send("run.settled", text, use=use, valuesBytes=None if values is None else len(text), **fields)


class Thread:
    """The checkpoints of one run. The state is one channel."""

    def __init__(self, host, use, request):
        self.host, self.use, self.request = host, use, request
        self.checkpoint, self.version = None, 0

    async def load(self):
        if self.request.get("isThreadNew"):
            return {}
        found, raw = await self.host.ask(
            "checkpoint.get", use=self.use, threadId=self.request["threadId"], namespace=""
        )
        if not found:
            return {}
        self.checkpoint = found[0]["key"]["checkpointId"]
        sizes = [found[0]["checkpoint"][1], found[0]["metadata"][1], found[0]["channelValues"][0]["value"][1]]
        self.version = json.loads(raw[: sizes[0]])["channel_versions"]["state"]
        return json.loads(raw[sizes[0] + sizes[1] : sum(sizes)])

    async def put(self, state, step):
        self.version += 1
        before, self.checkpoint = self.checkpoint, time_ordered_id()
        parts = [
            encode({"v": 4, "channel_versions": {"state": self.version}}),
            encode({"source": "loop", "step": step, "run_id": self.request["runId"]}),
            encode(state),
        ]
        version, refs = str(self.version), [["json", len(part)] for part in parts]
        put = {
            "key": {"threadId": self.request["threadId"], "namespace": "", "checkpointId": self.checkpoint},
            "checkpoint": refs[0],
            "metadata": refs[1],
            "channelVersions": {"state": version},
            "blobs": [{"channel": "state", "version": version, "value": refs[2]}],
        }
        if before:
            put["parentCheckpointId"] = before
        await self.host.ask("checkpoint.put", b"".join(parts), use=self.use, put=put)


def encode(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def time_ordered_id():
    """A UUID of version 6: ids of checkpoints sort by their time."""
    time = uuid.uuid1()
    value = (time.time >> 12) << 80 | 6 << 76 | (time.time & 0xFFF) << 64 | 2 << 62 | time.int & ((1 << 62) - 1)
    return str(uuid.UUID(int=value))


async def main():
    await Host(*await asyncio.open_unix_connection(sock=socket.socket(fileno=3), limit=1 << 22)).serve()


if __name__ == "__main__":
    asyncio.run(main())
