/**
 * Encrypts the data of each user under a key of their own, as a key service does. A test says in a file what the
 * service does for a tenant instead: `{"ada": "refuse"}`, `hang`, or `rotate` to a newer key; and what the handlers of
 * JSON do: `refuse-json`, `hang-json`, or `drop-json` keys. A request names another tenant by `x-tenant`.
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

type Json = Record<string, unknown>;

/** Begins what the handlers of JSON have encrypted. */
const PREFIX = 'enc:';

/** Changes values of JSON in the context of a tenant. */
async function mapJson(context: EncryptionContext, data: Json, change: (tenant: string, key: string) => unknown) {
  const { tenant } = await ask(context.metadata);
  const order = orderFor(tenant);
  if (order === 'refuse-json') throw new Error(`${context.model}.${context.field} of ${tenant} is refused`);
  if (order === 'hang-json') await new Promise(() => undefined);
  if (order === 'drop-json') return {};
  return Object.fromEntries(Object.keys(data).map((key) => [key, change(tenant, key)]));
}

export const encryption = {
  encrypt: {
    async blob({ metadata }: EncryptionContext, bytes: Uint8Array) {
      const { tenant, isRotating } = await ask(metadata);
      return encryptWith(tenant, isRotating ? 2 : 1, bytes);
    },
    json: (context: EncryptionContext, data: Json) =>
      mapJson(context, data, (tenant, key) => {
        if (!key.startsWith('private_') || data[key] === null) return data[key];
        const bytes = Buffer.from(JSON.stringify(data[key]));
        return PREFIX + Buffer.from(encryptWith(tenant, 1, bytes)).toString('base64');
      }),
  },
  decrypt: {
    async blob({ metadata }: EncryptionContext, bytes: Uint8Array) {
      const { tenant, isRotating } = await ask(metadata);
      const version = bytes[0] ?? 0;
      const plaintext = decryptWith(tenant, version, bytes);
      return isRotating && version === 1 ? { plaintext, replacement: encryptWith(tenant, 2, plaintext) } : plaintext;
    },
    json: (context: EncryptionContext, data: Json) =>
      mapJson(context, data, (tenant, key) => {
        const text = data[key];
        if (typeof text !== 'string' || !text.startsWith(PREFIX)) return text;
        return JSON.parse(
          Buffer.from(decryptWith(tenant, 1, Buffer.from(text.slice(PREFIX.length), 'base64'))).toString(),
        );
      }),
  },
  async context(user: { identity: string } | null, _context: EncryptionContext, request: Request) {
    if (user === null) return {};
    return { tenant: request.headers.get('x-tenant') ?? user.identity };
  },
};
