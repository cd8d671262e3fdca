import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { FrameReader, FrameWriter, MAX_FRAME_BYTES } from './frames.ts';

/** A socket that records what is written; `isFull` makes it push back until `drain`. */
class Wire extends Duplex {
  readonly writes: Buffer[] = [];
  isFull = false;
  override write(chunk: Buffer): boolean {
    this.writes.push(chunk);
    return !this.isFull;
  }
  override _read(): void {}
}

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

function read(bytes: Buffer, chunkSize = bytes.byteLength): Buffer[] {
  const messages: Buffer[] = [];
  const reader = new FrameReader((message) => messages.push(Buffer.from(message)));
  for (let at = 0; at < bytes.byteLength; at += chunkSize) reader.push(bytes.subarray(at, at + chunkSize));
  return messages;
}

it('a reader returns every message whole, however the bytes are cut', async () => {
  const wire = new Wire();
  const writer = new FrameWriter(wire);
  const sent = [Buffer.from('a'), Buffer.alloc(0), Buffer.alloc(700_000, 'x'), Buffer.from('z')];
  for (const message of sent) writer.send(1, [message]);
  await turn();
  const bytes = Buffer.concat(wire.writes);
  for (const chunkSize of [1, 7, 4096, bytes.byteLength]) {
    const messages = read(bytes, chunkSize);
    expect(messages.map((message, index) => message.equals(sent[index] as Buffer))).toEqual([true, true, true, true]);
  }
});

it('a writer sends the messages of one turn of the event loop in one write', async () => {
  const wire = new Wire();
  const writer = new FrameWriter(wire);
  for (let lane = 0; lane < 100; lane++) writer.send(lane, [Buffer.from(`message ${lane}`)]);
  await turn();
  expect(wire.writes).toHaveLength(1);
  expect(read(wire.writes[0] as Buffer)).toHaveLength(100);
});

it('a writer makes no frame larger than the limit', async () => {
  const wire = new Wire();
  new FrameWriter(wire).send(1, [Buffer.alloc(2_000_000)]);
  await turn();
  const bytes = Buffer.concat(wire.writes);
  for (let at = 0; at < bytes.byteLength; at += 4 + bytes.readUInt32BE(at)) {
    expect(bytes.readUInt32BE(at)).toBeLessThanOrEqual(MAX_FRAME_BYTES);
  }
});

it('a small message of another lane overtakes a large one, but never one of its own lane', async () => {
  const wire = new Wire();
  const writer = new FrameWriter(wire);
  writer.send(1, [Buffer.from('large'), Buffer.alloc(1_000_000)]);
  writer.send(1, [Buffer.from('after large')]);
  writer.send(2, [Buffer.from('other lane')]);
  await turn();
  const order = read(Buffer.concat(wire.writes)).map((message) => message.toString('utf8', 0, 5));
  expect(order).toEqual(['other', 'large', 'after']);
});

it('a writer stops cutting a large message while the socket is full, and goes on when it drains', async () => {
  const wire = new Wire();
  const writer = new FrameWriter(wire);
  wire.isFull = true;
  writer.send(1, [Buffer.alloc(1_000_000)]);
  await turn();
  expect(Buffer.concat(wire.writes).byteLength).toBeLessThan(MAX_FRAME_BYTES + 100);
  wire.isFull = false;
  wire.emit('drain');
  expect(read(Buffer.concat(wire.writes))).toHaveLength(1);
});

it('a reader refuses bytes that no writer makes', () => {
  expect(() => new FrameReader(() => {}).push(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow(RangeError);
});

it('a reader keeps no more of messages without an end than the largest message has', () => {
  const reader = new FrameReader(() => {});
  // One piece of memory for all: a reader keeps what it gets.
  const frame = Buffer.alloc(4 + MAX_FRAME_BYTES);
  frame.writeUInt32BE(MAX_FRAME_BYTES, 0);
  const pushAll = () => {
    for (let stream = 1; stream <= 4200; stream += 1) {
      frame.writeUInt32BE(1 + (stream % 2), 4);
      reader.push(frame);
    }
  };
  expect(pushAll).toThrow('messages that have no end');
});
