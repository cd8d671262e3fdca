import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Secret, type SecretReference, WORKSPACE_SECRETS_NAME } from '@runyard/contracts';
import { BadRequestError, type Tenant } from '@runyard/service-kit';
import Type from 'typebox';
import { RevisionStartError } from '../revisions/revision-start-error.ts';
import { checkNames } from './secret-set.ts';

/** @throws BadRequestError when the references are invalid variables, or conflict with the secrets */
export function checkReferences(references: readonly SecretReference[], secrets: readonly Secret[]): void {
  if (references.length > 0) checkNames([...secrets, ...references].map(({ name }) => name));
  const outside = references.find(({ secret_key: key }) => /^\.+$/.test(key));
  if (outside) throw new BadRequestError(`Secret key ${JSON.stringify(outside.secret_key)} cannot be a key.`);
}

/** Reads the secrets that a workspace has on the platform. */
export interface WorkspaceSecretReader {
  /** Returns the values of those keys that the workspace has. @throws UnavailableError */
  read(tenant: Tenant, keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export const secretReferencesVariable = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'Folder of the values that `secret_references` name: `<workspace id>/<secret name>/<secret key>`.',
  }),
);

/**
 * Reads the secrets that deployments refer to, when a revision starts: those of their workspace, which org-access keeps,
 * and those stored outside of the platform, which are files of a folder in the layout in which Kubernetes mounts secrets.
 * A workspace reaches only its own.
 */
export class ReferencedSecrets {
  readonly #folder: string | undefined;
  readonly #ofWorkspaces: WorkspaceSecretReader | undefined;

  /**
   * @param options.folder contains `<workspace id>/<secret name>/<secret key>`; undefined: there are no such secrets
   * @param options.ofWorkspaces undefined on remote data planes, which do not reach org-access
   */
  constructor(options: { folder: string | undefined; ofWorkspaces?: WorkspaceSecretReader }) {
    this.#folder = options.folder;
    this.#ofWorkspaces = options.ofWorkspaces;
  }

  /** @throws BadRequestError when there are references that cannot be read where the deployment runs */
  checkReadable(references: readonly SecretReference[], { isRemote }: { isRemote: boolean }): void {
    if (isRemote) {
      if (!references.some(isOfWorkspace)) return;
      throw new BadRequestError(
        `secret_references to ${WORKSPACE_SECRETS_NAME} cannot be read by the data plane of a listener.`,
        { code: 'secret_references_disabled' },
      );
    }
    if (this.#folder !== undefined || references.every(isOfWorkspace)) return;
    throw new BadRequestError('secret_references cannot be read here: SECRET_REFERENCES_DIR is not set.', {
      code: 'secret_references_disabled',
    });
  }

  /**
   * @throws RevisionStartError that names the missing reference, never a value; UnavailableError when org-access cannot
   * be reached
   */
  async read(tenant: Tenant, references: readonly SecretReference[]): Promise<Secret[]> {
    const ofWorkspaces = this.#ofWorkspaces;
    if (ofWorkspaces === undefined) return this.#readFiles(tenant.workspaceId, references);
    const ours = references.filter(isOfWorkspace);
    const files = references.filter((reference) => !isOfWorkspace(reference));
    const [first, second] = await Promise.all([
      ours.length === 0 ? [] : readOfWorkspace(ofWorkspaces, tenant, ours),
      this.#readFiles(tenant.workspaceId, files),
    ]);
    return [...first, ...second];
  }

  #readFiles(workspaceId: string, references: readonly SecretReference[]): Promise<Secret[]> {
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

const isOfWorkspace = ({ secret_name }: SecretReference) => secret_name === WORKSPACE_SECRETS_NAME;

async function readOfWorkspace(
  ofWorkspaces: WorkspaceSecretReader,
  tenant: Tenant,
  references: readonly SecretReference[],
): Promise<Secret[]> {
  const values = await ofWorkspaces.read(
    tenant,
    references.map(({ secret_key: key }) => key),
  );
  return references.map(({ name, secret_key: key }) => {
    const value = values.get(key);
    if (value === undefined) throw new RevisionStartError(`The workspace has no secret ${key} for variable ${name}.`);
    return { name, value };
  });
}
