import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The state of a flow, as a provider gets it and sends it back: `<flow id>.<secret>`. */
export interface FlowState {
  state: string;
  digest: Uint8Array<ArrayBuffer>;
}

/**
 * Makes the state of a flow.
 *
 * @param browser the secret of the browser that alone may bring it back; null for a flow that a front end finishes
 */
export function makeState(flowId: string, browser: string | null): FlowState {
  const secret = randomSecret();
  return { state: `${flowId}.${secret}`, digest: digestOf(secret, browser) };
}

/** Returns the parts of a state, which may be any text. */
export function readState(state: string | undefined): { flowId: string; secret: string } {
  const [flowId = '', secret = ''] = (state ?? '').split('.');
  return { flowId, secret };
}

/** Returns whether this is the secret of the state with that digest, in the browser it was made for. */
export function isSecretOf(digest: Uint8Array, secret: string, browser: string | null): boolean {
  return timingSafeEqual(digest, digestOf(secret, browser));
}

export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A secret has no dot, so that no other pair gives the same digest. */
function digestOf(secret: string, browser: string | null): Uint8Array<ArrayBuffer> {
  const text = browser === null ? secret : `${secret}.${browser}`;
  return new Uint8Array(createHash('sha256').update(text).digest());
}
