import { dirname, join, relative, sep } from 'node:path';
import { readRegularFile } from '@runyard/regular-files';
import picomatch from 'picomatch';
import { parse } from 'yaml';
import { readManifest } from './manifest.ts';
import { ProjectError } from './project-error.ts';

/**
 * Returns the root of the workspace that the folder is a member of, but not its root; null when there is none that can
 * be read.
 */
export async function findWorkspace(folder: string): Promise<string | null> {
  for (let root = dirname(folder), below = folder; root !== below; below = root, root = dirname(root)) {
    const isMember = await isWorkspaceMember(root, folder).catch((error: unknown) => {
      if (error instanceof ProjectError) return false;
      throw error;
    });
    if (isMember) return root;
  }
  return null;
}

/**
 * Returns whether the folder, at or below the root, is installed with it: it is the root itself or a member of its
 * workspace.
 */
export async function isWorkspaceMember(root: string, folder: string): Promise<boolean> {
  const patterns = await memberPatterns(root);
  if (patterns === null) return false;
  const path = relative(root, folder).split(sep).join('/');
  if (path === '') return true;
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const refused = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  return picomatch(wanted.map(plain), { ignore: refused.map(plain) })(path);
}

/** Removes `./` before and `/` behind a pattern, which package managers accept too. */
const plain = (pattern: string) => pattern.replace(/^\.\//, '').replace(/\/$/, '');

/** Returns null when the folder is no root of a workspace. */
async function memberPatterns(root: string): Promise<string[] | null> {
  const manifest = await readManifest(root);
  const own = manifest?.workspaces;
  const patterns = stringsOf(Array.isArray(own) ? own : (own as { packages?: unknown } | undefined)?.packages);
  const file = join(root, 'pnpm-workspace.yaml');
  const pnpm = await readRegularFile(file).catch(() => null);
  if (pnpm === null) return own === undefined ? null : patterns;
  return [...patterns, ...stringsOf(packagesOf(pnpm, file))];
}

function packagesOf(yaml: string, file: string): unknown {
  try {
    return (parse(yaml) as { packages?: unknown } | null)?.packages;
  } catch (cause) {
    throw new ProjectError(`${file} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
