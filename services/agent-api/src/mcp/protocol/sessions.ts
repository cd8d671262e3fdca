import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { isOldRevision, type OldRevision } from './versions.ts';

/** An old client, as its `initialize` told. */
export interface Session {
  /** Unlike that of any other session. */
  nonce: string;
  revision: OldRevision;
  /** True when the client can ask its user with a form. */
  asksUser: boolean;
}

const PURPOSE = 'mcp sessions v1';
const NONCE_BYTES = 16;

/**
 * Issues and reads session ids. An id carries its session and is signed: nothing is stored, and every process of a
 * deployment understands those of the others. It gives no right.
 */
export class Sessions {
  readonly #key: Buffer;

  constructor(secret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32));
  }

  issue({ revision, asksUser }: Omit<Session, 'nonce'>): string {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const content = Buffer.from(JSON.stringify([nonce, revision, asksUser])).toString('base64url');
    return `${content}.${this.#sign(content).toString('base64url')}`;
  }

  /** Returns undefined for an id that is not of this deployment. */
  read(id: string): Session | undefined {
    const [content = '', signature = '', ...rest] = id.split('.');
    const [given, right] = [Buffer.from(signature, 'base64url'), this.#sign(content)];
    if (rest.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    const [nonce, revision, asksUser] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [
      string,
      string,
      boolean,
    ];
    return isOldRevision(revision) ? { nonce, revision, asksUser } : undefined;
  }

  #sign(content: string): Buffer {
    return createHmac('sha256', this.#key).update(content).digest();
  }
}
