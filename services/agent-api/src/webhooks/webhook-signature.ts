import { createHmac } from 'node:crypto';

/**
 * Signatures as Standard Webhooks defines them (`v1`: HMAC-SHA256 over id, time and body). Our tests verify them with
 * the published library; signing with it would hash large bodies in JavaScript on the event loop.
 */
const PREFIX = 'whsec_';
const KEY_BYTES = { min: 24, max: 64 };

/** Returns the key of a secret; undefined when it is not a valid one. */
export function keyOfSecret(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/(?<!=)=+$/, '') === text.replace(/(?<!=)=+$/, '');
  return isWhole && key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : undefined;
}

/**
 * Returns one signature per key, so that receivers with the old or the new secret accept it while secrets are changed.
 */
export function signatureHeaders(
  message: { id: string; time: Date; body: Uint8Array },
  keys: Buffer[],
): Record<string, string> {
  const timestamp = String(Math.floor(message.time.getTime() / 1000));
  const signatures = keys.map((key) => {
    const hmac = createHmac('sha256', key).update(`${message.id}.${timestamp}.`).update(message.body);
    return `v1,${hmac.digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  };
}
