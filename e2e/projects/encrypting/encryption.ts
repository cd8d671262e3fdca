/**
 * Encrypts the data of each user under a key of their own, as a key service does. A test says in a file what the
 * service does for a user instead: `{"ada": "refuse"}`, `hang`, or `rotate` to a newer key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface EncryptionContext {
  model: string | null;
  field: string | null;
  metadata: { tenant?: string };
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function orderFor(tenant: string): string | undefined {
  const file = process.env.KEY_SERVICE_ORDERS;
  return file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'))[tenant];
}

const keyOf = (tenant: string, version: number) => createHash('sha256').update(`${tenant} ${version}`).digest();

function encryptWith(tenant: string, version: number, bytes: Uint8Array): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(tenant, version), iv);
  return Buffer.concat([Buffer.of(version), iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function decryptWith(tenant: string, version: number, bytes: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(tenant, version), bytes.subarray(1, 1 + IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(1 + IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Returns the tenant, and whether its key is to be changed. */
async function ask({ tenant = 'nobody' }: EncryptionContext['metadata']) {
  const order = orderFor(tenant);
  if (order === 'refuse') throw new Error(`the key service refuses ${tenant}`);
  if (order === 'hang') await new Promise(() => undefined);
  return { tenant, isRotating: order === 'rotate' };
}

export const encryption = {
  encrypt: {
    async blob({ metadata }: EncryptionContext, bytes: Uint8Array) {
      const { tenant, isRotating } = await ask(metadata);
      return encryptWith(tenant, isRotating ? 2 : 1, bytes);
    },
  },
  decrypt: {
    async blob({ metadata }: EncryptionContext, bytes: Uint8Array) {
      const { tenant, isRotating } = await ask(metadata);
      const version = bytes[0] ?? 0;
      const plaintext = decryptWith(tenant, version, bytes);
      return isRotating && version === 1 ? { plaintext, replacement: encryptWith(tenant, 2, plaintext) } : plaintext;
    },
  },
  async context(user: { identity: string } | null) {
    return user === null ? {} : { tenant: user.identity };
  },
};
