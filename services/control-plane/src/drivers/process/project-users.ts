import { createHash } from 'node:crypto';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ConfigError } from '@runyard/service-kit';

/** Folders of DATA_DIR that projects have to traverse. */
const WAYS = ['', 'artifacts'];
/** Folders of DATA_DIR that only this service may enter. */
const PRIVATE = ['holders', 'logs'];

/**
 * Assigns each deployment a system user that runs its project's code, so that the code can read neither the platform's
 * memory and files nor another deployment's.
 */
export class ProjectUsers {
  readonly #first: number;
  readonly #count: number;
  readonly #dataDir: string;

  constructor(first: number, last: number, dataDir: string) {
    this.#dataDir = dataDir;
    this.#first = first;
    this.#count = last - first + 1;
  }

  /**
   * Returns `uid:gid`, the same at every start of a deployment. In a range of millions, two deployments hardly ever
   * share one.
   */
  userOf(deploymentId: string): string {
    const number = createHash('sha256').update(deploymentId).digest().readUIntBE(0, 6);
    const id = this.#first + (number % this.#count);
    return `${id}:${id}`;
  }

  /** Lets the deployment's user, and no other, read its build. A folder that is run in place stays as it is. */
  async grantAccess(deploymentId: string, directory: string): Promise<void> {
    if (!directory.startsWith(join(this.#dataDir, 'artifacts', deploymentId, sep))) return;
    const [, gid] = this.userOf(deploymentId).split(':');
    await chown(directory, process.getuid!(), Number(gid));
    await chmod(directory, 0o750);
  }
}

/**
 * Opens the configured users and closes this service's folders of `dataDir` to them. Returns null when none are
 * configured: then projects run as this service's user.
 *
 * @param setting a range of numeric users, as `100000-999999999`
 * @throws ConfigError when this service may not start processes of those users
 */
export async function openProjectUsers(setting: string | undefined, dataDir: string): Promise<ProjectUsers | null> {
  if (setting === undefined) return null;
  const [first, last] = setting.split('-').map(Number) as [number, number];
  if (process.geteuid?.() !== 0)
    throw new ConfigError(['PROJECT_USERS can only be set where this service runs as root.']);
  if (first === 0 || last < first) throw new ConfigError(['PROJECT_USERS must be a range of users other than root.']);
  for (const [names, mode] of [
    [WAYS, 0o711],
    [PRIVATE, 0o700],
  ] as const) {
    for (const name of names) {
      await mkdir(join(dataDir, name), { recursive: true });
      await chmod(join(dataDir, name), mode);
    }
  }
  return new ProjectUsers(first, last, dataDir);
}
