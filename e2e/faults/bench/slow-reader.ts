import { type ClientRequest, request } from 'node:http';
import { StreamUnion } from './stream-union.ts';

const BYTES_PER_SECOND = 1_024;
const ID_LINE = /^id: (\S+)\r$/;

/** A client of a stream that reads a kilobyte a second, until it is told to read the rest at once. */
export class SlowReader {
  readonly union = new StreamUnion();
  /** True when the server cut it. */
  wasCut = false;
  readonly #url: string;
  #request: ClientRequest | undefined;
  #hasLeft = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Reads slowly from the start. Resolves when the stream is open. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#request = this.#ask('-1', (error) => this.#hasLeft || reject(error));
      this.#request.once('response', (res) => {
        if (res.statusCode !== 200) return reject(new Error(`a slow reader was answered ${res.statusCode}`));
        const take = lines((id) => this.union.add({ id }));
        const timer = setInterval(() => {
          const chunk: Buffer | null = res.read(Math.min(BYTES_PER_SECOND, Math.max(1, res.readableLength)));
          if (chunk) take(chunk);
        }, 1_000);
        res.once('close', () => {
          clearInterval(timer);
          this.wasCut = !this.#hasLeft && !res.complete;
        });
        res.on('error', () => undefined);
        // Without a listener nothing would be read ahead, and the stream would never begin.
        res.on('readable', () => undefined);
        resolve();
      });
      this.#request.end();
    });
  }

  /** Leaves, resumes where it was, and reads the rest at full speed. Resolves at the end of the stream. */
  async catchUp(): Promise<void> {
    this.#hasLeft = true;
    this.#request?.destroy();
    await new Promise<void>((resolve, reject) => {
      const again = this.#ask(this.union.lastId ?? '-1', reject);
      again.once('response', (res) => {
        const take = lines((id) => this.union.add({ id }));
        res.on('data', take);
        res.once('end', resolve);
        res.once('error', reject);
      });
      again.end();
    });
  }

  #ask(lastEventId: string, onError: (error: Error) => unknown): ClientRequest {
    const asked = request(this.#url, { headers: { 'last-event-id': lastEventId }, agent: false });
    asked.on('error', onError);
    return asked;
  }
}

/**
 * Parses ids alone: parsing the data of a stream of megabytes in each reader costs too much. An id counts when its
 * event is whole.
 */
function lines(onId: (id: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const parts = (rest + chunk.toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const id = line.length < 60 ? ID_LINE.exec(line)?.[1] : undefined;
      if (id !== undefined) onId(id);
    }
  };
}
