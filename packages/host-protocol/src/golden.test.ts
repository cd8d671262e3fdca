/** The files in `golden/` are for hosts in every language: what they hold must be the protocol as this code speaks it. */
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { waitFor } from '@runyard/test-kit';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { HostConnection } from './connection.ts';
import { FrameReader } from './frames.ts';
import { Answer, type MessageForm } from './messages/message.ts';
import { toHost, toParent } from './messages/messages.ts';

interface GoldenMessage {
  from: 'parent' | 'host';
  /** The type of the request that it answers. */
  answers?: string;
  header: Record<string, unknown> & { t: string };
  /** In base64. */
  raw?: string;
}

interface GoldenFrames {
  name: string;
  /** In base64. */
  bytes: string;
  messages: { header: Record<string, unknown>; raw: string }[];
}

function readGolden<T>(name: string): T[] {
  const text = readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

const messages = readGolden<GoldenMessage>('messages.jsonl');
const forms: Record<GoldenMessage['from'], Record<string, MessageForm>> = { parent: toHost, host: toParent };
const other = { parent: 'host', host: 'parent' } as const;

class Wire extends Duplex {
  readonly written: Buffer[] = [];
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    done();
  }
}

it('every message and every answer has a golden example', () => {
  for (const side of ['parent', 'host'] as const) {
    const sent = messages.filter(({ from, answers }) => from === side && answers === undefined);
    expect(new Set(sent.map(({ header }) => header.t))).toEqual(new Set(Object.keys(forms[side])));
    const requests = Object.entries(forms[side]).flatMap(([type, { answer }]) => (answer ? [type] : []));
    const answered = messages.filter(({ from, answers }) => from === other[side] && answers !== undefined);
    expect(new Set(answered.map(({ answers }) => answers))).toEqual(new Set(requests));
  }
});

it.each(messages.map((message) => [message.answers ?? message.header.t, message] as const))(
  'the golden %s has the form of its schema, and no field that the schema does not name',
  (_type, { from, answers, header }) => {
    const form = answers === undefined ? forms[from][header.t] : forms[other[from]][answers];
    const schema = answers === undefined ? form!.header : Answer.header;
    expect([...Compile(schema).Errors(header)]).toEqual([]);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(header)));
    if (answers !== undefined && header.error === undefined) {
      expect([...Compile(form!.answer ?? Type.Never()).Errors(header.ok)]).toEqual([]);
    }
  },
);

const frames = readGolden<GoldenFrames>('frames.jsonl').map((golden) => [golden.name, golden] as const);

it.each(frames)('a reader reads %s', (_name, { bytes, messages: expected }) => {
  const read: GoldenFrames['messages'] = [];
  new FrameReader((message) => {
    const headerEnd = 4 + message.readUInt32BE(0);
    const header = JSON.parse(message.toString('utf8', 4, headerEnd));
    read.push({ header, raw: message.toString('base64', headerEnd) });
  }).push(Buffer.from(bytes, 'base64'));
  expect(read).toEqual(expected);
});

it.each(frames.slice(0, 4))('a connection writes %s', async (_name, { bytes, messages: sent }) => {
  const wire = new Wire();
  const connection = new HostConnection({ socket: wire, onMessage: () => {}, onClose: () => {} });
  for (const { header, raw } of sent) connection.send(0, header, [Buffer.from(raw, 'base64')]);
  await waitFor(() => expect(Buffer.concat(wire.written).toString('base64')).toBe(bytes));
});
