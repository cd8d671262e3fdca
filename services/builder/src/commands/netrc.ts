import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The secret whose value is the `.netrc` of a deployment's builds: servers of packages, with names and passwords. */
const SECRET = 'NETRC';

/** Writes the file where uv, pip and git look for it. */
export async function writeNetrc(home: string, secrets: Record<string, string>): Promise<void> {
  const text = secrets[SECRET];
  if (text !== undefined) await writeFile(join(home, '.netrc'), `${text.trimEnd()}\n`, { mode: 0o600 });
}

/** Returns the passwords in it, which may stand in a log without the rest of their line. */
export function passwordsOfNetrc(secrets: Record<string, string>): string[] {
  const found = (secrets[SECRET] ?? '').matchAll(/\b(?:password|account)\s+"?([^\s"]+)/g);
  return Array.from(found, ([, password]) => password as string);
}
