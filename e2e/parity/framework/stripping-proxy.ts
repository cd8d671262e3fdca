import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { findOperation } from './operations.ts';

/** A way to a server on which one field of the requests of one operation gets lost. */
export interface StrippingProxy {
  url: string;
  /** The number of times that the field was removed. */
  readonly taken: number;
  close(): void;
}

export async function startStrippingProxy(options: {
  target: string;
  operationId: string;
  field: string;
}): Promise<StrippingProxy> {
  const target = new URL(options.target);
  let taken = 0;
  const server = createServer(async (incoming, outgoing) => {
    const { url, headers, body } = await withoutField(incoming, options, () => {
      taken += 1;
    });
    const forwarded = send(
      {
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: target.pathname.replace(/\/$/, '') + url,
        headers,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get taken() {
      return taken;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function withoutField(
  incoming: IncomingMessage,
  { operationId, field }: { operationId: string; field: string },
  onTaken: () => void,
) {
  const url = new URL(incoming.url ?? '/', 'http://proxy');
  const { host: _host, connection: _connection, 'transfer-encoding': _coding, ...headers } = incoming.headers;
  let body: Buffer = await buffer(incoming);
  if (findOperation(incoming.method ?? '', decodeURI(url.pathname))?.operationId === operationId) {
    const [place = '', ...rest] = field.split('.');
    const name = rest.join('.');
    if (place === 'query') {
      if (url.searchParams.has(name)) onTaken();
      url.searchParams.delete(name);
    } else if (place === 'header') {
      if (headers[name] !== undefined) onTaken();
      delete headers[name];
    } else if (body.length > 0) {
      const parsed = JSON.parse(body.toString()) as unknown;
      if (takeAway(parsed, steps(field))) onTaken();
      body = Buffer.from(JSON.stringify(parsed));
    }
  }
  return {
    url: url.pathname + url.search,
    headers: { ...headers, ...(body.length > 0 && { 'content-length': String(body.length) }) },
    body,
  };
}

/** Splits `body.a[].b` into `['a', '[]', 'b']`. */
function steps(field: string): string[] {
  return field
    .replace(/^body\.?/, '')
    .replaceAll('[]', '.[]')
    .split('.')
    .filter(Boolean);
}

function takeAway(value: unknown, [step, ...rest]: string[]): boolean {
  if (value === null || typeof value !== 'object' || step === undefined) return false;
  if (step === '[]') return Array.isArray(value) && value.map((item) => takeAway(item, rest)).includes(true);
  const holder = value as Record<string, unknown>;
  if (!Object.hasOwn(holder, step)) return false;
  if (rest.length > 0) return takeAway(holder[step], rest);
  delete holder[step];
  return true;
}
