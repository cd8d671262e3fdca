import { createHash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@runyard/service-kit';

/** What of DATA_DIR projects have to get through. */
const WAYS = ['', 'artifacts'];
/** What of DATA_DIR is for this service alone, whoever runs. */
const PRIVATE = ['holders', 'logs'];

/**
 * Whom the code of projects runs as: a user of the system for each deployment, so that it reads neither what the platform has in
 * memory and on disk nor what another deployment has.
 */
export class ProjectUsers {
  readonly #first: number;
  readonly #count: number;

  constructor(first: number, last: number) {
    this.#first = first;
    this.#count = last - first + 1;
  }

  /** `uid:gid`; the same for a deployment at every start. In a range of millions two of a platform hardly share one. */
  of(deploymentId: string): string {
    const number = createHash('sha256').update(deploymentId).digest().readUIntBE(0, 6);
    const id = this.#first + (number % this.#count);
    return `${id}:${id}`;
  }
}

/**
 * The users that are set, and folders of `dataDir` that keep them out of what is not theirs; null when none are set, and projects
 * run as this service's user.
 *
 * @param setting numbers, as `100000-999999999`
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
  return new ProjectUsers(first, last);
}
