import { isReservedVariable, type Secret } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import { BadRequestError } from '@runyard/service-kit';

/** @throws BadRequestError that names the invalid secrets */
export function checkSecrets(secrets: readonly Secret[]): void {
  checkNames(secrets.map(({ name }) => name));
}

/** On LangGraph Platform these name a deployment's own servers. Here they would have no effect. */
const CUSTOM_SERVERS = ['POSTGRES_URI_CUSTOM', 'REDIS_URI_CUSTOM'];

/** @throws BadRequestError when they cannot all be variables of one deployment */
export function checkNames(names: readonly string[]): void {
  const servers = names.filter((name) => CUSTOM_SERVERS.includes(name));
  if (servers.length > 0) {
    const list = servers.join(', ');
    throw new BadRequestError(
      `Secrets cannot name servers for a deployment: ${list}. It gets a database and Redis keys of its own on the servers of its data plane.`,
      { code: 'secret_name_reserved' },
    );
  }
  const reserved = names.filter(isReservedVariable);
  if (reserved.length > 0) {
    throw new BadRequestError(`Secret names are reserved for the platform: ${reserved.join(', ')}.`, {
      code: 'secret_name_reserved',
    });
  }
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new BadRequestError(`Secret names are given twice: ${[...new Set(twice)].join(', ')}.`);
}

/**
 * Encrypts and decrypts the secrets of a deployment. The ciphertext of one deployment cannot be decrypted as another's.
 */
export class SecretSets {
  readonly #cipher: Cipher;

  constructor(cipher: Cipher) {
    this.#cipher = cipher;
  }

  encrypt(deploymentId: string, secrets: readonly Secret[]): string | null {
    if (secrets.length === 0) return null;
    // Callers may send fields that the contract does not know; those are not stored.
    const known = secrets.map(({ name, value }) => ({ name, value }));
    return this.#cipher.encrypt(JSON.stringify(known), place(deploymentId));
  }

  decrypt(deploymentId: string, encrypted: string | null): Secret[] {
    return encrypted === null ? [] : (JSON.parse(this.#cipher.decrypt(encrypted, place(deploymentId))) as Secret[]);
  }
}

const place = (deploymentId: string) => `deployment/${deploymentId}/secrets`;
