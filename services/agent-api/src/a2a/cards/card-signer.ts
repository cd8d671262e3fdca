import { createECDH, hkdfSync } from 'node:crypto';
import canonicalize from 'canonicalize';
import { calculateJwkThumbprint, FlattenedSign, importJWK, type JWK } from 'jose';

export interface CardSignature {
  protected: string;
  signature: string;
}

const ALGORITHM = 'ES256';
const PURPOSE = 'a2a cards v1';

/**
 * Signs cards with a key of the deployment. It is derived from the deployment's secret: every process has the same, and a
 * restart invalidates no signature.
 */
export class CardSigner {
  readonly #privateKey: JWK;
  /** The key that verifies signatures. */
  readonly publicKey: JWK;

  private constructor(privateKey: JWK, publicKey: JWK) {
    this.#privateKey = privateKey;
    this.publicKey = publicKey;
  }

  static async derive(secret: Uint8Array): Promise<CardSigner> {
    const pair = createECDH('prime256v1');
    pair.setPrivateKey(Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32)));
    // An uncompressed point: a byte of its kind, then both coordinates.
    const point = pair.getPublicKey();
    const coordinates = { x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
    const key = { kty: 'EC', crv: 'P-256', ...coordinates };
    const about = { kid: await calculateJwkThumbprint(key), alg: ALGORITHM, use: 'sig' };
    return new CardSigner({ ...key, d: pair.getPrivateKey().toString('base64url') }, { ...key, ...about });
  }

  /** Signs the canonical form (RFC 8785) of a card. `keysUrl` is where the public key is found. */
  async sign(card: object, keysUrl: string): Promise<CardSignature> {
    const payload = Buffer.from(canonicalize(card)!);
    const header = { alg: ALGORITHM, kid: this.publicKey.kid!, typ: 'JOSE', jku: keysUrl };
    const key = await importJWK(this.#privateKey, ALGORITHM);
    const { protected: head, signature } = await new FlattenedSign(payload).setProtectedHeader(header).sign(key);
    return { protected: head!, signature };
  }
}
