import {
  type Answer,
  type EncryptionContextRequest,
  type HostConnection,
  type LoadedEncryption,
  type ProjectExport,
  RemoteError,
  type RequestHeader,
} from '@runyard/host-protocol';
import type { CryptAnswer, CryptJsonAnswer, CryptJsonRequest, CryptRequest, PlacedJson } from './encryption.ts';
import { EncryptionHandlerError } from './handler-errors.ts';
import { inTime } from './in-time.ts';
import { loadField } from './loading.ts';
import type { GraphHost } from './types.ts';

/** Milliseconds. A transaction may wait for the answer, and holds its locks meanwhile. */
const TIMEOUT_MS = 5_000;

/** Asks the project's encryption object. Every failure is an error in the time given. */
export class EncryptionRequests {
  readonly #connection: HostConnection;
  readonly #loadMs: number;
  readonly #timeoutMs: number;

  /** @param loadMs milliseconds that loading the object may take */
  constructor(connection: HostConnection, loadMs: number, timeoutMs = TIMEOUT_MS) {
    this.#connection = connection;
    this.#loadMs = loadMs;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws GraphLoadError */
  async load({ file, symbol }: ProjectExport): Promise<LoadedEncryption> {
    const loading = this.#connection.request(0, { t: 'encryption.load', source: { file, symbol } });
    return (await loadField(loading, 'encryption.path', this.#loadMs)).ok as LoadedEncryption;
  }

  /** @throws EncryptionHandlerError */
  async contextOf({
    source: { file, symbol },
    ...request
  }: EncryptionContextRequest): Promise<Record<string, unknown>> {
    const { ok } = await this.#ask('context', { t: 'encryption.context', source: { file, symbol }, request });
    return ok as Record<string, unknown>;
  }

  /** @throws EncryptionHandlerError */
  async crypt({ source: { file, symbol }, action, metadata, bytes }: CryptRequest): Promise<CryptAnswer> {
    const header = { t: `encryption.${action}`, source: { file, symbol }, metadata };
    const { ok, raw } = await this.#ask(`${action}.blob`, header, [bytes]);
    const length = ok as number;
    if (length === raw.byteLength) return { bytes: raw };
    return { bytes: raw.subarray(0, length), replacement: raw.subarray(length) };
  }

  /** An error in the place of an object concerns that alone. @throws EncryptionHandlerError */
  async cryptJson({
    source: { file, symbol },
    action,
    metadata,
    objects,
  }: CryptJsonRequest): Promise<CryptJsonAnswer[]> {
    const handler = `${action}.json`;
    const header = { t: 'encryption.json', source: { file, symbol }, action, metadata };
    const sent = objects.map(({ place: { model, field }, data }) => ({ model, field, data }));
    const { raw } = await this.#ask(handler, header, [Buffer.from(JSON.stringify(sent))]);
    const answers = JSON.parse(raw.toString('utf8')) as ({ data: Record<string, unknown> } | { error: string })[];
    return answers.map((answer) =>
      'error' in answer ? new EncryptionHandlerError('failed', handler, answer.error) : answer.data,
    );
  }

  async #ask(handler: string, header: RequestHeader, raw?: Uint8Array[]): Promise<Answer> {
    const late = () => new EncryptionHandlerError('late', handler, `no answer in ${this.#timeoutMs / 1000} s`);
    try {
      return await inTime(this.#connection.request(0, header, raw), this.#timeoutMs, late);
    } catch (cause) {
      if (!(cause instanceof RemoteError)) throw cause;
      const reason = cause.kind === 'gone' ? 'gone' : 'failed';
      throw new EncryptionHandlerError(reason, handler, `${cause.name}: ${cause.message}`, { cause });
    }
  }
}

/** Returns the handlers that encrypt the data keys of a deployment. @param host returns the one that runs now */
export function keyHandlersOf(host: () => Promise<Pick<GraphHost, 'crypt'>>, source: ProjectExport) {
  const crypt = async (action: CryptRequest['action'], metadata: Record<string, unknown>, bytes: Uint8Array) =>
    (await host()).crypt({ source, action, metadata, bytes });
  return {
    encrypt: async (metadata: Record<string, unknown>, bytes: Uint8Array) =>
      (await crypt('encrypt', metadata, bytes)).bytes,
    decrypt: async (metadata: Record<string, unknown>, bytes: Uint8Array) => {
      const { bytes: plaintext, replacement } = await crypt('decrypt', metadata, bytes);
      return { plaintext, replacement };
    },
  };
}

/** Returns the handlers that encrypt values inside JSON. @param host returns the one that runs now */
export function jsonHandlersOf(host: () => Promise<Pick<GraphHost, 'cryptJson'>>, source: ProjectExport) {
  const crypt =
    (action: CryptJsonRequest['action']) => async (metadata: Record<string, unknown>, objects: PlacedJson[]) =>
      (await host()).cryptJson({ source, action, metadata, objects });
  return { encrypt: crypt('encrypt'), decrypt: crypt('decrypt') };
}
