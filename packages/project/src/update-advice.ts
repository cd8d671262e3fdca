/** Says how a project gets a newer release of a package than the one that it has installed. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

/** Updates a locked package as far as the ranges allow it, by the lock file that each package manager writes. */
const UPDATE_COMMANDS: Record<string, (lockFile: string) => string> = {
  'package-lock.json': () => 'npm update',
  'npm-shrinkwrap.json': () => 'npm update',
  'pnpm-lock.yaml': () => 'pnpm update',
  'yarn.lock': (lockFile) => (readFileSync(lockFile, 'utf8').includes('\n__metadata:') ? 'yarn up -R' : 'yarn upgrade'),
  'bun.lock': () => 'bun update',
  'bun.lockb': () => 'bun update',
};

/**
 * Returns the sentence about the update. Where `package.json` itself allows a newer release, the lock file is what keeps
 * the old one, and one command changes that.
 *
 * @param file a file of the project
 * @param minor the first two numbers of the oldest release that will do, `0.2`
 */
export function updateAdvice(name: string, file: string, minor: string): string {
  const range = findRange(name, dirname(file));
  if (range === undefined || !allowsLater(range, minor)) return 'Update it and deploy again.';
  const command = `${findUpdateCommand(dirname(file))} ${name}`;
  return `Its package.json allows a newer one ("${range}"): run \`${command}\` and deploy again.`;
}

/** Returns whether a range includes the last release of a minor version below 1.0; false for forms that are rare. */
function allowsLater(range: string, minor: string): boolean {
  const [major] = minor.split('.');
  return range.split('||').some((part) => {
    const text = part.trim().replace(/\s+/g, '');
    if (/^(?:|\*|x|latest|>=?\d[\w.-]*)$/i.test(text)) return true;
    const [, prefix, numbers = ''] = /^([\^~]?)(\d+(?:\.(?:\d+|x|\*)){0,2})(?:-[\w.]+)?$/i.exec(text) ?? [];
    const [ownMajor, ownMinor, patch] = numbers.split('.');
    if (ownMajor !== major) return false;
    const isWide = ownMinor === undefined || /\D/.test(ownMinor);
    const isExact = prefix === '' && patch !== undefined && /^\d+$/.test(patch);
    return isWide || (`${ownMajor}.${ownMinor}` === minor && !isExact);
  });
}

function findRange(name: string, start: string): string | undefined {
  for (const folder of foldersFrom(start)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const manifest = readManifest(file);
    const range = SECTIONS.map((section) => manifest[section]?.[name]).find((each) => typeof each === 'string');
    if (range !== undefined) return range;
  }
  return undefined;
}

function readManifest(file: string): Partial<Record<string, Record<string, string>>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

function findUpdateCommand(start: string): string {
  for (const folder of foldersFrom(start)) {
    for (const [name, command] of Object.entries(UPDATE_COMMANDS)) {
      if (existsSync(join(folder, name))) return command(join(folder, name));
    }
  }
  return 'npm update';
}

function* foldersFrom(start: string): Generator<string> {
  for (let folder = start; ; folder = dirname(folder)) {
    yield folder;
    if (folder === dirname(folder)) return;
  }
}
