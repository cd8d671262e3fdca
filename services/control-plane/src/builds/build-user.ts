import { execFile } from 'node:child_process';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '@runyard/service-kit';

/** Folders of DATA_DIR that builds have to traverse. Only this service can list them. */
const WAYS = ['', 'artifacts', 'builds', 'cache', 'package-managers'];
/** Folders of DATA_DIR that only this service may enter. */
const PRIVATE = ['holders', 'logs', 'objects', 'uploads', 'registry', 'git', 'logins'];

/**
 * The system user that runs the commands of builds. It owns only the folders that it is given, so that install scripts
 * of strangers cannot read this service's files or inspect its processes.
 */
export class BuildUser {
  readonly uid: number;
  readonly gid: number;

  constructor({ uid, gid }: { uid: number; gid: number }) {
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
   * Makes this service the owner of these folders and of everything the user wrote there, and lets every user who can
   * reach them read it. Links are changed, not their targets.
   */
  async takeBack(...folders: string[]): Promise<void> {
    await own(folders, process.getuid!(), process.getgid!());
    await promisify(execFile)('chmod', ['-R', 'go+rX', '--', ...folders]);
  }
}

async function own(folders: string[], uid: number, gid: number): Promise<void> {
  const owners = await Promise.all(folders.map(async (folder) => (await stat(folder)).uid));
  const others = folders.filter((_, index) => owners[index] !== uid);
  if (others.length > 0) await promisify(execFile)('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...others]);
}

/**
 * Opens the configured build user and closes this service's folders of `dataDir` to it. Returns null when none is
 * configured: then commands run as this service's user.
 *
 * @param setting numeric user and group, as `20000:20000`
 * @throws ConfigError when this service may not start processes of that user
 */
export async function openBuildUser(setting: string | undefined, dataDir: string): Promise<BuildUser | null> {
  for (const name of PRIVATE) await mkdir(join(dataDir, name), { recursive: true });
  for (const name of PRIVATE) await chmod(join(dataDir, name), 0o700);
  if (setting === undefined) return null;
  const [uid, gid] = setting.split(':').map(Number) as [number, number];
  if (process.geteuid?.() !== 0) throw new ConfigError(['BUILD_USER can only be set where this service runs as root.']);
  if (uid === 0 || gid === 0) throw new ConfigError(['BUILD_USER must be a user and a group other than root.']);
  for (const name of WAYS) await mkdir(join(dataDir, name), { recursive: true });
  for (const name of WAYS) await chmod(join(dataDir, name), 0o711);
  return new BuildUser({ uid, gid });
}
