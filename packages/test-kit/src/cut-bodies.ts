import { connect, type Socket } from 'node:net';

/** How much of a body a client has sent when the answer comes. */
export interface BodyCut {
  name: string;
  isChunked: boolean;
  /** Bytes on the wire, of the body with its framing. */
  bytesBefore: number;
  /** False when the client keeps the rest to itself. Default: true. */
  sendsRest?: boolean;
}

const BODY_BYTES = 300_000;
const CHUNK_BYTES = 30_000;

/** Bodies of 300,000 bytes, announced or chunked, cut at various places. */
export const BODY_CUTS: readonly BodyCut[] = [false, true].flatMap((isChunked) => {
  const wire = encodeBody(isChunked).length;
  // The second one of a chunked body is in the size of a chunk.
  return [2_000, CHUNK_BYTES + 9, 65_536, 200_000, wire - 1, wire].map((bytesBefore) => ({
    name: `${isChunked ? 'chunked' : 'announced'}, after ${bytesBefore} of ${wire} bytes`,
    isChunked,
    bytesBefore,
  }));
});

/**
 * Sends a request with a part of its body, and, when it has been answered, the rest and another request on the same
 * connection.
 *
 * @returns the status of both answers; for the second one `closed` when the connection was closed in order, and `reset`
 */
export async function sendCutBody(
  url: string,
  {
    cut,
    method = 'POST',
    headers = {},
    next = new URL(url).pathname,
  }: { cut: BodyCut; method?: string; headers?: Record<string, string>; next?: string },
): Promise<{ first: number | string; next: number | string }> {
  const { hostname, port, pathname, search } = new URL(url);
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const framing = cut.isChunked ? 'transfer-encoding: chunked' : `content-length: ${BODY_BYTES}`;
  const body = encodeBody(cut.isChunked);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const answers = new Answers(socket);
  socket.write([`${method} ${pathname}${search} HTTP/1.1`, ...lines, framing, '', ''].join('\r\n'));
  socket.write(body.subarray(0, cut.bytesBefore));
  const first = await answers.next();
  if (cut.sendsRest ?? true) {
    socket.write(body.subarray(cut.bytesBefore));
    socket.write([`GET ${next} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  }
  const second = await answers.next();
  socket.destroy();
  return { first, next: second };
}

function encodeBody(isChunked: boolean): Buffer {
  if (!isChunked) return Buffer.alloc(BODY_BYTES, ' ');
  const chunk = `${CHUNK_BYTES.toString(16)}\r\n${' '.repeat(CHUNK_BYTES)}\r\n`;
  return Buffer.from(`${chunk.repeat(BODY_BYTES / CHUNK_BYTES)}0\r\n\r\n`);
}

/** Reads whole answers off a connection, one after the other. */
class Answers {
  #text = '';
  #end: string | undefined;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#text += text;
      this.#wake();
    });
    const end = (how: string) => {
      this.#end ??= how;
      this.#wake();
    };
    socket.on('error', () => end('reset')).on('end', () => end('closed'));
  }

  async next(): Promise<number | string> {
    for (;;) {
      const length = lengthOfAnswer(this.#text);
      if (length !== undefined) {
        const status = Number(this.#text.slice(9, 12));
        this.#text = this.#text.slice(length);
        return status;
      }
      if (this.#end !== undefined) return this.#end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Returns the length of the first answer in a text; undefined while it is incomplete. */
function lengthOfAnswer(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n') + 4;
  if (head < 4) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head)) ?? [];
  if (length !== undefined) return text.length >= head + Number(length) ? head + Number(length) : undefined;
  const end = text.indexOf('0\r\n\r\n', head);
  return end < 0 ? undefined : end + 5;
}
