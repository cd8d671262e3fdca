import { chmod, chown, mkdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { clearUser, UserRange } from '@runyard/deployments';

/** Folders of DATA_DIR that projects have to traverse. */
const WAYS = ['', 'artifacts'];
/** Folders of DATA_DIR that only this service may enter. */
const PRIVATE = ['logins', 'logs'];

/**
 * The system users that run the code of projects, one for each deployment, so that the code can read neither the
 * platform's memory and files nor another deployment's.
 */
export class ProjectUsers {
  readonly #range: UserRange;
  readonly #dataDir: string;

  constructor(range: UserRange, dataDir: string) {
    this.#range = range;
    this.#dataDir = dataDir;
  }

  /** Returns `uid:gid`. */
  userOf(deploymentId: string): string {
    const { uid, gid } = this.#range.projectUserOf(deploymentId);
    return `${uid}:${gid}`;
  }

  /** Lets the deployment's user, and no other, read its build. A folder that is run in place stays as it is. */
  async grantAccess(deploymentId: string, directory: string): Promise<void> {
    if (!directory.startsWith(join(this.#dataDir, 'artifacts', deploymentId, sep))) return;
    await chown(directory, process.getuid!(), this.#range.projectUserOf(deploymentId).gid);
    await chmod(directory, 0o750);
  }

  /**
   * Removes what a deleted deployment's code has left outside of its folders, with processes that left their parent.
   *
   * @throws Error when a process goes on running
   */
  async clear(deploymentId: string): Promise<void> {
    await clearUser(this.#range.projectUserOf(deploymentId));
  }
}

/**
 * Opens the configured users and closes this service's folders of `dataDir` to them. Returns null when none are
 * configured: then projects run as this service's user.
 *
 * @param setting PROJECT_USERS
 * @throws ConfigError when this service may not start processes of those users
 */
export async function openProjectUsers(setting: string | undefined, dataDir: string): Promise<ProjectUsers | null> {
  if (setting === undefined) return null;
  const range = new UserRange(setting);
  for (const [names, mode] of [
    [WAYS, 0o711],
    [PRIVATE, 0o700],
  ] as const) {
    for (const name of names) {
      await mkdir(join(dataDir, name), { recursive: true });
      await chmod(join(dataDir, name), mode);
    }
  }
  return new ProjectUsers(range, dataDir);
}
