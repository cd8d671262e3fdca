import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';

/** Writes a file that only its owner may read; readers see the old content or the new, never half of it. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const unfinished = `${path}.${process.pid}.new`;
  await writeFile(unfinished, content, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}

/** Returns the secret kept in a file: 32 random bytes in hex, created the first time. */
export async function readOrCreateSecret(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (kept.trim()) return kept.trim();
  const secret = randomBytes(32).toString('hex');
  await writePrivateFile(path, `${secret}\n`);
  return secret;
}
