import { join } from 'node:path';
import { readRegularFile } from '@runyard/regular-files';
import { ProjectError } from './project-error.ts';

/** The fields of a `package.json` about its installation. */
export interface Manifest {
  workspaces?: unknown;
  packageManager?: unknown;
  devEngines?: unknown;
}

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

/** Returns null when the folder has none. @throws ProjectError when it is not JSON */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const file = join(folder, 'package.json');
  const text = await readRegularFile(file).catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (cause) {
    throw new ProjectError(`${file} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Returns whether the file names packages. One that only declares its files as modules leaves them to a folder above.
 */
export function declaresPackages(manifest: Manifest): boolean {
  return SECTIONS.some((section) => {
    const packages = (manifest as Record<string, unknown>)[section];
    return typeof packages === 'object' && packages !== null && Object.keys(packages).length > 0;
  });
}

/** Returns the range in which a file names a package to install. */
export function rangeOf(manifest: Manifest, name: string): string | undefined {
  const ranges = SECTIONS.map(
    (section) => (manifest as Partial<Record<string, Record<string, unknown>>>)[section]?.[name],
  );
  return ranges.find((range) => typeof range === 'string');
}
