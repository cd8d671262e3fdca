import type { EncryptionContextRequest, HostConnection, LoadedEncryption, ProjectExport } from '@runyard/host-protocol';
import type { CryptAnswer, CryptJsonAnswer, CryptJsonRequest, CryptRequest, PlacedJson } from './encryption.ts';
import { type AskedObject, type AskingLimits, HandlerAsker } from './handler-asker.ts';
import { EncryptionHandlerError } from './handler-errors.ts';
import type { GraphHost } from './types.ts';

const ENCRYPTION: AskedObject = {
  field: 'encryption.path',
  load: 'encryption.load',
  // A transaction may wait for the answer, and holds its locks meanwhile.
  timeoutMs: 5_000,
  HandlerError: EncryptionHandlerError,
};

/** Asks the project's encryption object. */
export class EncryptionRequests {
  readonly #asker: HandlerAsker;

  constructor(connection: HostConnection, limits: AskingLimits) {
    this.#asker = new HandlerAsker(connection, ENCRYPTION, limits);
  }

  /** @throws GraphLoadError */
  async load(source: ProjectExport): Promise<LoadedEncryption> {
    return (await this.#asker.load(source)) as LoadedEncryption;
  }

  /** @throws EncryptionHandlerError */
  async contextOf({ source, ...request }: EncryptionContextRequest): Promise<Record<string, unknown>> {
    const { ok } = await this.#asker.ask('context', { t: 'encryption.context', source, request });
    return ok as Record<string, unknown>;
  }

  /** @throws EncryptionHandlerError */
  async crypt({ source, action, metadata, bytes }: CryptRequest): Promise<CryptAnswer> {
    const question = { t: `encryption.${action}`, source, metadata };
    const { ok, raw } = await this.#asker.ask(`${action}.blob`, question, [bytes]);
    const length = ok as number;
    if (length === raw.byteLength) return { bytes: raw };
    return { bytes: raw.subarray(0, length), replacement: raw.subarray(length) };
  }

  /** An error in the place of an object concerns that alone. @throws EncryptionHandlerError */
  async cryptJson({ source, action, metadata, objects }: CryptJsonRequest): Promise<CryptJsonAnswer[]> {
    const handler = `${action}.json`;
    const sent = objects.map(({ place: { model, field }, data }) => ({ model, field, data }));
    const question = { t: 'encryption.json', source, action, metadata };
    const { raw } = await this.#asker.ask(handler, question, [Buffer.from(JSON.stringify(sent))]);
    const answers = JSON.parse(raw.toString('utf8')) as ({ data: Record<string, unknown> } | { error: string })[];
    return answers.map((answer) =>
      'error' in answer ? new EncryptionHandlerError('failed', handler, answer.error) : answer.data,
    );
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
