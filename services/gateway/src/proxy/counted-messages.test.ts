import { expect, it } from 'vitest';
import { CountedMessages } from './counted-messages.ts';

/** Returns a masked frame as a browser sends it. */
function frame(opcode: number, length: number, isFinal = true): Buffer {
  const size = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : undefined;
  const head = Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | (size?.[0] ?? 127), ...(size?.slice(1) ?? [])]);
  const long = Buffer.alloc(size ? 0 : 8);
  if (!size) long.writeBigUInt64BE(BigInt(length));
  // Contents that look like frames.
  return Buffer.concat([head, long, Buffer.from([1, 2, 3, 4]), Buffer.alloc(length, 0x81)]);
}

const TEXT = 1;
const PING = 9;
const MESSAGES = [
  frame(TEXT, 5),
  frame(TEXT, 0),
  frame(TEXT, 300, false),
  frame(0, 70_000),
  frame(PING, 2),
  frame(TEXT, 70_000),
];
/** One of them is continued. */
const COUNT = MESSAGES.length - 1;

it.each([1, 3, 1_000, 1_000_000])(
  'each message is counted once, and passed on unchanged, in chunks of %d bytes',
  async (size) => {
    let counted = 0;
    const messages = new CountedMessages(() => {
      counted += 1;
      return 0;
    });
    const all = Buffer.concat(MESSAGES);
    const passed: Buffer[] = [];
    messages.on('data', (chunk: Buffer) => passed.push(chunk));
    for (let at = 0; at < all.length; at += size) messages.write(all.subarray(at, at + size));
    await new Promise<void>((resolve) => messages.on('end', resolve).end());
    expect(Buffer.concat(passed).equals(all)).toBe(true);
    expect(counted).toBe(COUNT);
  },
);

it('a message without room waits for it, after those before it were passed on', async () => {
  const [one, two] = [frame(TEXT, 3), frame(TEXT, 4)];
  let asked = 0;
  const messages = new CountedMessages(() => {
    asked += 1;
    return asked === 2 ? 1 : 0;
  });
  const passed: number[] = [];
  messages.on('data', (chunk: Buffer) => passed.push(chunk.length));
  await new Promise<void>((resolve) => messages.on('end', resolve).end(Buffer.concat([one, two])));
  expect([passed, asked]).toEqual([[one.length, two.length], 3]);
});

it('a socket that is closed while it waits passes nothing more on', async () => {
  const messages = new CountedMessages(() => 1_000_000);
  const passed: Buffer[] = [];
  messages.on('data', (chunk: Buffer) => passed.push(chunk)).write(frame(TEXT, 3));
  await new Promise<void>((resolve) => messages.on('close', resolve).destroy());
  expect(passed).toEqual([]);
});
