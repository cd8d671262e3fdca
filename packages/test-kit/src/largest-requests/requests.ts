import type { Operation } from '@runyard/contracts';
import { hostileTexts, type TextMaker } from './texts.ts';

export interface LargestRequest {
  /** The part that is largest, for messages. */
  name: string;
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string | string[]>;
  body: string | undefined;
}

type AnySchema = NonNullable<Operation['body']>;

interface Schema {
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Node.js reads so many bytes of headers and request line. */
const HEAD_BYTES = 15_000;
/** Bodies whose limit is larger are for callers with a credential, which is checked first. */
const BODY_BYTES_MAX = 300_000;
const ANY_LENGTH = 4_000;

/** Returns the smallest request to an operation: no text, no body, nothing besides. */
export function emptyRequest(operation: Operation): LargestRequest {
  return { name: 'empty', method: operation.method, path: pathOf(operation, () => 'a'), headers: {}, body: undefined };
}

/**
 * Returns the largest requests that anybody may send to an operation, each large in another way. Headers and unknown
 * parameters are read by the same code for all operations: each gets some of those, by its `index`.
 */
export function largestRequests(operation: Operation, index: number): LargestRequest[] {
  const { bodyType = 'application/json', bodyLimitBytes = BODY_BYTES_MAX, method, query } = operation;
  const type = { 'content-type': bodyType };
  const make = (name: string, parts: Partial<LargestRequest>): LargestRequest => ({
    ...emptyRequest(operation),
    headers: type,
    ...parts,
    name,
  });
  const limit = Math.min(bodyLimitBytes, BODY_BYTES_MAX);
  const bodies = bodyType === 'application/json' ? largestDocuments(limit) : largestForms(operation, limit);
  const queries = query ? LARGEST_QUERIES : pickSome(LARGEST_QUERIES, index, 1);
  return [
    ...withoutRepetitions(hostileTexts().flatMap((text) => requestsOfTexts(operation, text, make))),
    ...pickSome(LARGEST_HEADERS, index, 3).map(([name, each]) =>
      make(`headers: ${name}`, { headers: { ...type, ...each } }),
    ),
    ...queries.map(([name, each]) => make(`query: ${name}`, { path: `${emptyRequest(operation).path}?${each}` })),
    ...(method === 'get' ? [] : bodies.map(([name, body]) => make(`body: ${name}`, { body }))),
  ];
}

/** An operation without texts would get one request many times. */
function withoutRepetitions(requests: LargestRequest[]): LargestRequest[] {
  return [...new Map(requests.map((each) => [`${each.path} ${each.body}`, each])).values()];
}

function pickSome<T>(list: readonly T[], index: number, count: number): T[] {
  return Array.from({ length: count }, (_, each) => list[(index * count + each) % list.length]!);
}

/** Returns requests whose texts have their maximum: one where those of a form have it too, one where they are valid. */
function requestsOfTexts(
  operation: Operation,
  [name, makeText]: [string, TextMaker],
  make: (name: string, parts: Partial<LargestRequest>) => LargestRequest,
): LargestRequest[] {
  const { examples = {}, query, body, bodyType } = operation;
  return [true, false].map((keepsForms) => {
    const fill = (schema: AnySchema | undefined, example: unknown) =>
      schema && fillWith(schema as Schema, example, { makeText, keepsForms });
    const filled = fill(body, examples.body);
    const path = pathOf(operation, (param) => {
      const example = (examples.params as Record<string, unknown> | undefined)?.[param];
      return encodeText(keepsForms && example !== undefined ? example : makeText(300));
    });
    const asked = query ? `${path}?${toForm(fill(query, examples.query))}` : path;
    return make(`texts of ${name}${keepsForms ? '' : ', everywhere'}`, {
      path: asked.slice(0, HEAD_BYTES),
      ...(filled !== undefined && { body: bodyType === undefined ? JSON.stringify(filled) : toForm(filled) }),
    });
  });
}

const encodeText = (value: unknown) => encodeURIComponent(String(value));
const toForm = (body: unknown) =>
  Object.entries(body as object)
    .map(([key, value]) => `${key}=${encodeText(value)}`)
    .join('&');

function pathOf({ path }: Operation, fillParam: (param: string) => string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, param: string) => fillParam(param));
}

/** Returns a value of the schema whose texts have their maximum; an example where `keepsForms` and a text has a form. */
function fillWith(schema: Schema, example: unknown, how: { makeText: TextMaker; keepsForms: boolean }): unknown {
  const [first] = schema.anyOf ?? [];
  if (first) return fillWith(first, example, how);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    const ofExample = (example ?? {}) as Record<string, unknown>;
    const entries = Object.entries(schema.properties);
    return Object.fromEntries(entries.map(([key, each]) => [key, fillWith(each, ofExample[key], how)]));
  }
  if (schema.type === 'array') {
    const item = fillWith(schema.items ?? {}, (example as unknown[] | undefined)?.[0], how);
    return Array.from({ length: Math.min(schema.maxItems ?? 10, 1_000) }, () => item);
  }
  if (schema.type !== undefined && schema.type !== 'string') return example ?? 1;
  const hasForm = schema.format !== undefined || schema.pattern !== undefined;
  if (how.keepsForms && hasForm && example !== undefined) return example;
  return how.makeText(schema.maxLength ?? ANY_LENGTH);
}

const LARGEST_HEADERS: [string, Record<string, string | string[]>][] = [
  ['many', Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`x-${index}`, '']))],
  ['the same again and again', { 'x-tenant-id': Array.from({ length: 500 }, () => 'a') }],
  ['cookies', { cookie: 'a=b; '.repeat(HEAD_BYTES / 5) }],
  ['cookies without values', { cookie: ';= '.repeat(HEAD_BYTES / 3) }],
  ['a long cookie of a session', { cookie: `runyard_session=${'%'.repeat(HEAD_BYTES)}` }],
  ['a long bearer', { authorization: `Bearer ${'a'.repeat(HEAD_BYTES)}` }],
  ['a bearer of spaces', { authorization: `Bearer ${' '.repeat(HEAD_BYTES)}a b` }],
  ['a bearer that looks like a key', { authorization: `Bearer lsv2_sk_${'eyJ-'.repeat(HEAD_BYTES / 4)}` }],
  ['basic', { authorization: `Basic ${Buffer.from(':'.repeat(HEAD_BYTES / 2)).toString('base64')}` }],
  ['a key', { 'x-api-key': 'lsv2_sk_'.repeat(HEAD_BYTES / 8) }],
  ['a token of deep claims', { authorization: `Bearer ${hostileTexts().at(-1)![1](HEAD_BYTES)}` }],
  ['addresses', { 'x-forwarded-for': '1::,'.repeat(HEAD_BYTES / 4) }],
  ['languages', { 'accept-language': 'a;q=0,'.repeat(HEAD_BYTES / 6) }],
  ['media types', { accept: 'a/b;c="d",'.repeat(HEAD_BYTES / 10) }],
  ['a media type of parameters', { 'content-type': `application/json${';a=b'.repeat(HEAD_BYTES / 4)}` }],
  ['tags', { 'if-none-match': 'W/"a", '.repeat(HEAD_BYTES / 7) }],
  ['an agent', { 'user-agent': 'Mozilla/(; '.repeat(HEAD_BYTES / 11) }],
  ['a trace', { traceparent: '00-'.repeat(1_000), tracestate: 'a=b,'.repeat(3_000) }],
  ['baggage', { baggage: 'a=b;c,'.repeat(HEAD_BYTES / 6) }],
  ['a host', { host: 'a.'.repeat(HEAD_BYTES / 2) }],
  ['an origin', { origin: `https://${'a.'.repeat(HEAD_BYTES / 2)}`, 'sec-fetch-site': 'cross-site' }],
  ['an idempotency key', { 'idempotency-key': 'a'.repeat(HEAD_BYTES) }],
];

const LARGEST_QUERIES: [string, string][] = [
  ['many', Array.from({ length: HEAD_BYTES / 8 }, (_, index) => `k${index}=`).join('&')],
  ['the same again and again', 'a=1&'.repeat(HEAD_BYTES / 4)],
  ['the deepest', `a${'[a]'.repeat(HEAD_BYTES / 3)}=1`],
  ['only separators', '&'.repeat(HEAD_BYTES)],
  ['wrong encodings', '%'.repeat(HEAD_BYTES)],
];

function largestForms({ body }: Operation, limit: number): [string, string][] {
  const fields = Object.keys((body as Schema | undefined)?.properties ?? { a: 0 });
  const again = fields.map((field) => `${field}=a&`).join('');
  return [
    ['the same fields again and again', again.repeat(Math.floor(limit / again.length))],
    [
      'many fields',
      Array.from({ length: limit / 9 }, (_, index) => `k${index}=`)
        .join('&')
        .slice(0, limit),
    ],
    ['only separators', '&'.repeat(limit)],
    ['wrong encodings', `${fields[0]}=${'%'.repeat(limit - 100)}`],
  ];
}

function largestDocuments(limit: number): [string, string][] {
  const depth = Math.floor(limit / 12);
  return [
    ['the deepest lists', '['.repeat(limit / 2 - 1) + ']'.repeat(limit / 2 - 1)],
    ['the deepest objects', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['without an end', '[{"a":'.repeat(limit / 6)],
    ['many keys', `{${Array.from({ length: limit / 12 }, (_, index) => `"k${index}":0`).join(',')}}`.slice(0, limit)],
    ['the same key again and again', `{${'"__proto__":0,'.repeat(limit / 15)}"a":0}`],
    ['a long number', `[${'1'.repeat(limit - 10)}]`],
    ['escapes', `["${'\\u0000'.repeat(limit / 6 - 2)}"]`],
    ['many lists', `[${'[],'.repeat(limit / 3 - 2)}[]]`],
  ];
}
