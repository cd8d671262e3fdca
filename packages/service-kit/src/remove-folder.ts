import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const ATTEMPTS = 5;
const PAUSE_MS = 100;

/**
 * Removes a folder with all that is in it, if it exists. The program of the system does it, because builds and projects
 * decide what is in it: Node's `rm` takes memory for each file at once, and a few million would end this process. And it
 * goes by paths, so that whoever exchanges a folder for a link meanwhile has something else removed.
 *
 * @throws Error when something cannot be removed, or somebody goes on writing there
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await promisify(execFile)('rm', ['-rf', '--', folder]);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await pause(attempt * PAUSE_MS);
    }
  }
}
