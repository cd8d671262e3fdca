/** Data keys and handlers of tests. */
import { createHash } from 'node:crypto';
import { vi } from 'vitest';
import type { DataKeyStore, KeyHandlers, StoredDataKey } from '../src/project/types.ts';

/** Keeps data keys in memory, as a table does. */
export class MemoryKeys implements DataKeyStore {
  readonly rows: (StoredDataKey & { digest: Buffer })[] = [];
  find = vi.fn(async (ids: string[]) => this.rows.filter(({ id }) => ids.includes(id)));

  async newest(digest: Buffer) {
    return this.rows.findLast((row) => row.digest.equals(digest));
  }

  async add(key: Omit<StoredDataKey, 'createdAt'> & { digest: Buffer }) {
    this.rows.push({ ...key, createdAt: new Date() });
  }

  async replace({ id }: StoredDataKey, encrypted: Uint8Array) {
    this.rows.find((row) => row.id === id)!.encrypted = encrypted;
  }
}

/** Encrypts by turning bits that depend on the context. */
export function turn({ tenant = 'none' }: Record<string, unknown>, bytes: Uint8Array, version = 0): Uint8Array {
  const mask = createHash('sha256').update(`${tenant} ${version}`).digest();
  return bytes.map((byte, index) => byte ^ mask[index % mask.length]!);
}

export const HANDLERS: KeyHandlers = {
  encrypt: async (metadata, bytes) => turn(metadata, bytes),
  decrypt: async (metadata, bytes) => ({ plaintext: turn(metadata, bytes) }),
};
