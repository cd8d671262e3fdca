import { randomBytes } from 'node:crypto';
import { DEPLOYMENT_KEYS_VARIABLE, type Secret } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import type { Queries } from '../database/database.ts';
import type { Deployment } from '../generated/client.ts';

/** Days for which one key encrypts. */
const ROTATION_DAYS = 90;
const DAY_MS = 86_400_000;
const KEY_BYTES = 32;

/**
 * The keys of a deployment as they are stored. The first one encrypts. The second one is the next: every process knows
 * a key for a whole period before the first one uses it, so that processes of two revisions read each other's data. The
 * others are older ones, under which rows may still be.
 */
interface StoredKeys {
  keys: [current: string, next: string, ...older: string[]];
  /** Milliseconds since 1970. */
  rotatedAt: number;
}

/**
 * Makes, keeps and rotates the keys for the data of deployments that bring no LANGGRAPH_AES_KEY. They are encrypted
 * with the platform's own key, and deleted with their deployment, whose data nobody can read then.
 */
export class DeploymentKeys {
  readonly #cipher: Cipher;
  readonly #now: () => number;

  constructor(cipher: Cipher, now: () => number = Date.now) {
    this.#cipher = cipher;
    this.#now = now;
  }

  /** Returns the variable that gives the deployment's services its keys; undefined when the deployment is deleted. */
  async find(queries: Queries, id: string): Promise<Secret | undefined> {
    const row = await queries.deployment.findUnique({ where: { id }, select: { id: true, encryptedKeys: true } });
    return row ? this.variableOf(queries, row) : undefined;
  }

  /** Returns the same of a row that was read, whose keys are made or rotated where that is due. */
  async variableOf(
    queries: Queries,
    { id, encryptedKeys: before }: Pick<Deployment, 'id' | 'encryptedKeys'>,
  ): Promise<Secret | undefined> {
    const stored = before === null ? undefined : (JSON.parse(this.#cipher.decrypt(before, place(id))) as StoredKeys);
    if (stored && stored.rotatedAt > this.#now() - ROTATION_DAYS * DAY_MS) return variable(stored);
    const rotated = { keys: rotate(stored?.keys), rotatedAt: this.#now() };
    const encryptedKeys = this.#cipher.encrypt(JSON.stringify(rotated), place(id));
    // The deployment's `updated_at` stays: nobody has changed anything that its owner sees.
    const count = await queries.$executeRaw`
      UPDATE deployment SET encrypted_keys = ${encryptedKeys}
      WHERE id = ${id}::uuid AND encrypted_keys IS NOT DISTINCT FROM ${before}`;
    // Another process may have been faster: then its keys count.
    return count > 0 ? variable(rotated) : this.find(queries, id);
  }
}

/** @param keys undefined for a deployment that has none yet */
function rotate(keys: StoredKeys['keys'] | undefined): StoredKeys['keys'] {
  const [current, next, ...older] = keys ?? [];
  return current === undefined || next === undefined ? [makeKey(), makeKey()] : [next, makeKey(), current, ...older];
}

const makeKey = () => randomBytes(KEY_BYTES).toString('base64');

const variable = ({ keys }: StoredKeys): Secret => ({ name: DEPLOYMENT_KEYS_VARIABLE, value: keys.join(',') });

const place = (deploymentId: string) => `deployment/${deploymentId}/keys`;
