import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from '@runyard/test-kit/python';

const manifest = path.join(import.meta.dirname, 'package.json');
const cache = path.resolve(import.meta.dirname, '../node_modules/.cache');

/**
 * Installs the packages of the package.json beside this file, once for each content of it, and returns what imports
 * them: they are no part of the repository's own installation.
 */
export async function installPackages(): Promise<<Module>(name: string) => Promise<Module>> {
  const hash = createHash('sha256')
    .update(await readFile(manifest))
    .digest('hex')
    .slice(0, 12);
  const place = path.join(cache, `copilotkit-${hash}`);
  if (!existsSync(place)) await installAt(place);
  const { resolve } = createRequire(path.join(place, 'package.json'));
  return (name) => import(/* @vite-ignore */ pathToFileURL(resolve(name)).href);
}

/** Installs under another name and renames: an existing folder is complete. */
async function installAt(place: string): Promise<void> {
  const aside = `${place}-${process.pid}`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  await cp(manifest, path.join(aside, 'package.json'));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const { code, output } = await runProgram('npm', args, { cwd: aside });
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}\n${output}`);
  await rename(aside, place);
}
