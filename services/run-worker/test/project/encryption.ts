/**
 * Encrypts data keys under a key for each tenant, as a key service does, and the values of JSON keys that begin with
 * `private_`. It has withdrawn what the tenant `withdrawn` needs for those.
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

interface Context {
  metadata: Record<string, unknown>;
}

const IV = Buffer.alloc(16);
const keyOf = ({ metadata: { tenant = 'nobody' } }: Context) => createHash('sha256').update(String(tenant)).digest();

type Json = Record<string, unknown>;

async function mapJson(context: Context, data: Json, change: (value: unknown) => Promise<unknown>): Promise<Json> {
  if (context.metadata.tenant === 'withdrawn') throw new Error('the key was withdrawn');
  const changed = Object.entries(data).map(async ([key, value]) => [
    key,
    key.startsWith('private_') ? await change(value) : value,
  ]);
  return Object.fromEntries(await Promise.all(changed));
}

export const encryption = {
  encrypt: {
    async blob(context: Context, bytes: Uint8Array): Promise<Uint8Array> {
      const cipher = createCipheriv('aes-256-cbc', keyOf(context), IV);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    },
    json: (context: Context, data: Json) =>
      mapJson(context, data, async (value) =>
        Buffer.from(await encryption.encrypt.blob(context, Buffer.from(JSON.stringify(value)))).toString('hex'),
      ),
  },
  decrypt: {
    async blob(context: Context, bytes: Uint8Array): Promise<Uint8Array> {
      const decipher = createDecipheriv('aes-256-cbc', keyOf(context), IV);
      return Buffer.concat([decipher.update(bytes), decipher.final()]);
    },
    json: (context: Context, data: Json) =>
      mapJson(context, data, async (value) => {
        const bytes = await encryption.decrypt.blob(context, Buffer.from(String(value), 'hex'));
        return JSON.parse(Buffer.from(bytes).toString());
      }),
  },
};
