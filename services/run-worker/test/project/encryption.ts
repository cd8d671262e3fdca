/** Encrypts data keys under a key for each tenant, as a key service does. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

interface Context {
  metadata: Record<string, unknown>;
}

const IV = Buffer.alloc(16);
const keyOf = ({ metadata: { tenant = 'nobody' } }: Context) => createHash('sha256').update(String(tenant)).digest();

export const encryption = {
  encrypt: {
    async blob(context: Context, bytes: Uint8Array): Promise<Uint8Array> {
      const cipher = createCipheriv('aes-256-cbc', keyOf(context), IV);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    },
  },
  decrypt: {
    async blob(context: Context, bytes: Uint8Array): Promise<Uint8Array> {
      const decipher = createDecipheriv('aes-256-cbc', keyOf(context), IV);
      return Buffer.concat([decipher.update(bytes), decipher.final()]);
    },
  },
};
