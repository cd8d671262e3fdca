import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion, PasskeyOptions, PasskeyRegistration } from '@runyard/contracts';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 };

type Cbor = Parameters<typeof isoCBOR.encode>[0];

/** An authenticator with one passkey (ES256), and the browser before it. */
export class SoftwareAuthenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(32);
  #userHandle: string | undefined;
  origin = 'http://localhost:2024';
  rpId = 'localhost';
  /** The counter of the next proof. */
  counter = 1;
  /** False: it is touched, and asks for no PIN. */
  verifiesPerson = true;

  /** Makes the passkey. @param attestation what it says about itself instead of nothing */
  create(options: PasskeyOptions, attestation?: { fmt: string; attStmt: Map<string, Cbor> }): PasskeyRegistration {
    this.#userHandle = options.user.id;
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const publicKey = isoCBOR.encode(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x!, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y!, 'base64url'))],
      ]),
    );
    const idLength = Buffer.from([0, this.#id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), idLength, this.#id, publicKey]);
    const authData = new Uint8Array(Buffer.concat([this.#authenticatorData(FLAGS.attested), attested]));
    const { fmt = 'none', attStmt = new Map<string, Cbor>() } = attestation ?? {};
    const object = new Map<string, Cbor>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', authData],
    ]);
    return this.#answer({
      clientDataJSON: this.#clientData('webauthn.create', options.challenge),
      attestationObject: Buffer.from(isoCBOR.encode(object)).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Proves that it has the passkey. */
  get({ challenge }: { challenge: string }): PasskeyAssertion {
    const clientDataJSON = this.#clientData('webauthn.get', challenge);
    const data = this.#authenticatorData(0);
    const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([data, clientDataHash]), this.#keys.privateKey);
    return this.#answer({
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: this.#userHandle,
    });
  }

  #answer<Response>(response: Response) {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key' as const, response };
  }

  #clientData(type: string, challenge: string): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false })).toString(
      'base64url',
    );
  }

  #authenticatorData(flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const all = flags | FLAGS.present | (this.verifiesPerson ? FLAGS.verified : 0);
    return Buffer.concat([createHash('sha256').update(this.rpId).digest(), Buffer.from([all]), counter]);
  }
}
