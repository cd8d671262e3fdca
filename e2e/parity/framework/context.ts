import { Client } from '@langchain/langgraph-sdk';
import { type Operation, validatorOf } from '@runyard/contracts';
import { expect } from 'vitest';
import { getOperation } from './operations.ts';
import { parseEvents, type WireEvent } from './server-sent-events.ts';

export interface ParityRequest {
  params?: Record<string, string>;
  /** A list repeats the parameter. */
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface ParityAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON; undefined when the answer is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: cases look into answers of every shape, checked against the contract before.
  body: any;
  /** The events of an event stream. */
  events: WireEvent[];
}

/** One way to the server. */
export interface ServerConnection {
  url: string;
  client: Client;
  /** Calls an operation, reads the answer to its end and checks it against the contract. */
  call(operationId: string, request?: ParityRequest): Promise<ParityAnswer>;
  /** Calls an operation whose answer does not end; the caller reads or cancels the body. */
  open(operationId: string, request?: ParityRequest): Promise<Response>;
}

/** The tools of a case. The way itself may lose the field under test; `direct` never does. */
export interface ParityContext extends ServerConnection {
  /** The operation under test. */
  operation: string;
  direct: ServerConnection;
}

export function connectTo(url: string, apiKey: string): ServerConnection {
  const open = (operationId: string, request: ParityRequest = {}) => {
    const operation = getOperation(operationId);
    return fetch(url + pathOf(operation, request), {
      method: operation.method.toUpperCase(),
      headers: {
        'x-api-key': apiKey,
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(request.signal && { signal: request.signal }),
    });
  };
  return {
    url,
    client: new Client({ apiUrl: url, apiKey, callerOptions: { maxRetries: 0 } }),
    open,
    async call(operationId, request) {
      const answer = await toAnswer(await open(operationId, request));
      expectDocumented(getOperation(operationId), answer);
      return answer;
    },
  };
}

function pathOf(operation: Operation, { params = {}, query = {} }: ParityRequest): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${operation.operationId} wants ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) search.append(name, String(each));
    }
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

async function toAnswer(response: Response): Promise<ParityAnswer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: type.startsWith('application/json') && text.trim() !== '' ? JSON.parse(text) : undefined,
    events: type.startsWith('text/event-stream') ? parseEvents(text) : [],
  };
}

/** Expects a documented status and a body of the shape documented for it. */
function expectDocumented(operation: Operation, answer: ParityAnswer): void {
  const told = `${operation.operationId} answered ${answer.status} ${answer.text.slice(0, 500)}`;
  const documented = operation.responses[answer.status];
  expect(documented, `${told}: a status that is not documented`).toBeDefined();
  const { schema, contentType = 'application/json' } = documented!;
  if (!schema) {
    expect(answer.text, told).toBe('');
    return;
  }
  expect(answer.headers.get('content-type')?.split(';')[0], told).toBe(contentType);
  if (contentType !== 'application/json') return;
  const checked = validatorOf(schema)(structuredClone(answer.body));
  expect(checked.ok ? [] : checked.issues, told).toEqual([]);
}
