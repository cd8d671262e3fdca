import { HANGS_AFTER_MS } from '@runyard/test-kit';
import fc from 'fast-check';
import { expect } from 'vitest';

/** A request to an endpoint of JSON-RPC. */
export interface Frame {
  headers: Record<string, string>;
  body: string;
}

/** The parts that frames of a protocol are made of: values that are almost right reach deeper than random ones. */
export interface FrameParts {
  methods: string[];
  /** Likely values, by the name of the parameter. */
  params: Record<string, unknown[]>;
  headers: Record<string, string[]>;
}

const anything = fc.jsonValue({ maxDepth: 2 });
/** U+0000, a lone surrogate, names that every object has, and what looks like a path. */
const oddTexts = fc.constantFrom('', 'a\u0000b', '\ud800', '__proto__', 'constructor', '../..', '%00', 'ä'.repeat(300));
const validIds = fc.oneof(fc.integer(), fc.string({ unit: 'grapheme-ascii' }));
const oddIds = fc.constantFrom(null, 1.5, true, {}, [], 1e300);

/** Returns frames from valid ones to bytes that are no JSON. */
export function framesOf({ methods, params, headers }: FrameParts): fc.Arbitrary<Frame> {
  const likely = Object.entries(params).map(
    ([name, values]) => [name, fc.oneof(fc.constantFrom(...values), oddTexts, anything)] as const,
  );
  const call = fc.record(
    {
      jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: anything }),
      id: fc.oneof({ weight: 4, arbitrary: validIds }, { weight: 1, arbitrary: oddIds }),
      method: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...methods) }, oddTexts, anything),
      params: fc.oneof({ weight: 6, arbitrary: fc.record(Object.fromEntries(likely), NONE_REQUIRED) }, anything),
    },
    NONE_REQUIRED,
  );
  const json = fc
    .oneof({ weight: 8, arbitrary: call }, fc.array(call, { maxLength: 3 }), anything)
    .map((value) => JSON.stringify(value));
  const cut = fc.tuple(json, fc.nat(80)).map(([text, length]) => text.slice(0, length));
  const deep = fc.constantFrom('['.repeat(5_000), `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  return fc.record({
    body: fc.oneof({ weight: 9, arbitrary: json }, cut, deep, fc.string()),
    headers: fc
      .record(
        Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, fc.constantFrom(...values)])),
        NONE_REQUIRED,
      )
      .map((chosen) => ({ 'content-type': 'application/json', ...chosen })),
  });
}

const NONE_REQUIRED = { requiredKeys: [] as never[] };

/** Sends a frame, and checks that its answer has the form of the protocol and repeats the id of its request. */
export async function expectAnswer(url: string, { headers, body }: Frame): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(HANGS_AFTER_MS) });
  const { status } = response;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    expect(status).toBe(200);
    await response.body?.cancel();
    return;
  }
  const text = await response.text();
  expect(status, text).toBeLessThan(500);
  if (status === 202) {
    expect(text).toBe('');
    return;
  }
  const answer = JSON.parse(text);
  if (!('result' in answer)) expect(answer).toMatchObject({ error: { message: expect.any(String) } });
  if ('error' in answer) expect(Number.isInteger(answer.error.code), text).toBe(true);
  expect(answer.jsonrpc).toBe('2.0');
  const id = validIdIn(body);
  if (id !== undefined && answer.id !== null) expect(answer.id).toEqual(id);
}

/** Returns the id of a request; undefined when there is none that an answer could repeat. */
function validIdIn(body: string): unknown {
  try {
    const { id } = JSON.parse(body) ?? {};
    return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
