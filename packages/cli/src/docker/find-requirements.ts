import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

const NAMES = ['pyproject.toml', 'setup.py', 'uv.lock', 'uv.toml'];
const ENDS = ['.txt', '.in'];
const PARTS = ['requirements', 'constraints'];

/** Returns the paths, from the folder, of files that say which packages a project in Python gets, and from where. */
export async function findRequirements(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && isOfRequirements(entry.name))
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
}

/** Says so too of files that a `requirements.txt` may name. */
function isOfRequirements(name: string): boolean {
  if (NAMES.includes(name)) return true;
  return ENDS.some((end) => name.endsWith(end)) && PARTS.some((part) => name.includes(part));
}
