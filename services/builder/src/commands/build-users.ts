import { execFile } from 'node:child_process';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clearUser, endProcesses, type SystemUser, UserRange } from '@runyard/deployments';

/** Folders of DATA_DIR that builds have to traverse. Only this service can list them. */
const WAYS = ['', 'projects', 'builds', 'build-caches', 'build-tools'];
/** Folders of DATA_DIR that only this service may enter. */
const PRIVATE = ['git'];

/**
 * The system user that runs the builds of one deployment. It owns only the folders that it is given, so that install
 * scripts of strangers can read neither this service's files and processes nor those of other deployments' builds.
 */
export class BuildUser implements SystemUser {
  readonly uid: number;
  readonly gid: number;

  constructor({ uid, gid }: SystemUser) {
    this.uid = uid;
    this.gid = gid;
  }

  /**
   * Gives the user these folders with all their contents, except folders that it owns already. Links are changed, not
   * their targets.
   */
  give(...folders: string[]): Promise<void> {
    return own(folders, this.uid, this.gid);
  }

  /**
   * Makes this service the owner of the folder and of everything the user wrote there, and lets every user who can
   * reach it read it. Links are changed, not their targets.
   */
  async takeBack(folder: string): Promise<void> {
    await own([folder], process.getuid!(), process.getgid!());
    await promisify(execFile)('chmod', ['-R', 'go+rX', '--', folder]);
  }

  /**
   * Ends all processes of the user. Nothing of a command outlives it, whatever it did to leave its process group.
   *
   * @throws Error when one goes on running
   */
  endProcesses(): Promise<void> {
    return endProcesses(this);
  }

  /**
   * Ends all processes of the user, and removes what they left outside of the folders that it was given.
   *
   * @throws Error when one goes on running
   */
  clear(): Promise<void> {
    return clearUser(this);
  }
}

async function own(folders: string[], uid: number, gid: number): Promise<void> {
  const owners = await Promise.all(folders.map(async (folder) => (await stat(folder)).uid));
  const others = folders.filter((_, index) => owners[index] !== uid);
  if (others.length > 0) await promisify(execFile)('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...others]);
}

export interface BuildUsers {
  userOf(deploymentId: string): BuildUser;
}

/**
 * Opens the configured users and closes this service's folders of `dataDir` to them. Returns null when none are
 * configured: then commands run as this service's user.
 *
 * @param setting `PROJECT_USERS`
 * @throws ConfigError when this service may not start processes of those users
 */
export async function openBuildUsers(setting: string | undefined, dataDir: string): Promise<BuildUsers | null> {
  for (const name of PRIVATE) await mkdir(join(dataDir, name), { recursive: true });
  for (const name of PRIVATE) await chmod(join(dataDir, name), 0o700);
  if (setting === undefined) return null;
  const range = new UserRange(setting);
  for (const name of WAYS) await mkdir(join(dataDir, name), { recursive: true });
  for (const name of WAYS) await chmod(join(dataDir, name), 0o711);
  return { userOf: (deploymentId) => new BuildUser(range.buildUserOf(deploymentId)) };
}
