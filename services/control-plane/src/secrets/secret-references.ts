import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret, SecretReference } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import { RevisionStartError } from '../drivers/driver.ts';
import { checkNames } from './secret-set.ts';

/** @throws BadRequestError when the references are invalid variables, or conflict with the secrets */
export function checkReferences(references: readonly SecretReference[], secrets: readonly Secret[]): void {
  if (references.length > 0) checkNames([...secrets, ...references].map(({ name }) => name));
  const outside = references.find(({ secret_key: key }) => /^\.+$/.test(key));
  if (outside) throw new BadRequestError(`Secret key ${JSON.stringify(outside.secret_key)} cannot be a key.`);
}

/**
 * Reads secrets that are stored outside of the platform, when a revision starts. They are files of a folder, in the
 * layout in which Kubernetes mounts secrets. A workspace reaches only the folder named by its id.
 */
export class ReferencedSecrets {
  readonly #folder: string | undefined;

  /** @param folder contains `<workspace id>/<secret name>/<secret key>`; undefined: there are no such secrets */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** @throws BadRequestError when there are references, and no folder to read them from */
  checkReadable(references: readonly SecretReference[]): void {
    if (references.length === 0 || this.#folder !== undefined) return;
    throw new BadRequestError('secret_references cannot be read here: SECRET_REFERENCES_DIR is not set.', {
      code: 'secret_references_disabled',
    });
  }

  /** @throws RevisionStartError that names the missing reference, never a value */
  read(workspaceId: string, references: readonly SecretReference[]): Promise<Secret[]> {
    return Promise.all(
      references.map(async ({ name, secret_name: secret, secret_key: key }) => {
        if (this.#folder === undefined) {
          throw new RevisionStartError(
            `Secret ${secret} of variable ${name} cannot be read: SECRET_REFERENCES_DIR is not set.`,
          );
        }
        const path = join(this.#folder, workspaceId, secret, key);
        const value = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
          throw new RevisionStartError(`Secret ${secret} has no key ${key} for variable ${name} (${cause.code}).`, {
            cause,
          });
        });
        return { name, value };
      }),
    );
  }
}
