import { execFile } from 'node:child_process';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '@runyard/service-kit';

/** What of DATA_DIR builds have to get through; what is in it can be listed by nobody else. */
const WAYS = ['', 'artifacts', 'builds', 'cache', 'package-managers'];
/** What of DATA_DIR is for this service alone. */
const PRIVATE = ['holders', 'logs', 'objects', 'uploads', 'registry', 'git', 'logins'];

/**
 * Whom the commands of builds run as: a user of the system that has nothing but what is given to it, so that install scripts of
 * strangers read no file of this service and see into none of its processes.
 */
export class BuildUser {
  readonly uid: number;
  readonly gid: number;

  constructor({ uid, gid }: { uid: number; gid: number }) {
    this.uid = uid;
    this.gid = gid;
  }

  /** The folders are the user's from here on, with all that is in them unless they were before. Links are changed, not what they lead to. */
  give(...folders: string[]): Promise<void> {
    return own(folders, this.uid, this.gid);
  }

  /** What the user has made is this service's from here on. */
  takeBack(...folders: string[]): Promise<void> {
    return own(folders, process.getuid!(), process.getgid!());
  }
}

async function own(folders: string[], uid: number, gid: number): Promise<void> {
  const owners = await Promise.all(folders.map(async (folder) => (await stat(folder)).uid));
  const others = folders.filter((_, index) => owners[index] !== uid);
  if (others.length > 0) await promisify(execFile)('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...others]);
}

/**
 * The user that is set, and folders of `dataDir` that keep it out of what is not its own; null when none is set, and commands
 * run as this service's user.
 *
 * @param setting numbers, as `20000:20000`
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
