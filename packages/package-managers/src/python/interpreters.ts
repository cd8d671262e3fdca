import { access, constants, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { ProjectError } from '../project-error.ts';
import { quote } from './shell.ts';

/** A Python of this machine. */
export interface Interpreter {
  /** Has no patch number: `3.12`. */
  version: string;
  /** Not that of an environment. */
  path: string;
}

export interface MachinePrograms {
  interpreters: Interpreter[];
  /** True for a uv in a release that has all that is used of it. */
  hasUv: boolean;
}

/** Releases that projects run on, in the order of preference where they do not say which. */
const VERSIONS = ['3.13', '3.12', '3.11', '3.14'];
/** The first release whose `--relocatable` holds for all that it installs. */
const OLDEST_UV = [0, 8];

/**
 * Returns the programs that may be a Python: those that the operator names, and those on the PATH.
 *
 * @param configured absolute paths
 */
export async function findCandidates(configured: readonly string[], path: string): Promise<string[]> {
  const names = [...VERSIONS.map((version) => `python${version}`), 'python3'];
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = await Promise.all([...configured, ...places].map(findProgram));
  return [...new Set(found.filter((program) => program !== undefined))];
}

/** Names a program once, whatever links lead to it. Of a shell script, its own name decides what it does. */
async function findProgram(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => realpath(path),
    () => undefined,
  );
}

const DESCRIBE =
  'import os, sys; print("python", "%d.%d" % sys.version_info[:2], os.path.realpath(getattr(sys, "_base_executable", sys.executable)))';

/**
 * Returns the shell command that prints what each candidate is. Whoever runs it is who will run the project: what is
 * closed to that user is not found.
 */
export function describeCommand(candidates: readonly string[]): string {
  const each = candidates.map((path) => `${quote(path)} -I -S -c ${quote(DESCRIBE)} 2>/dev/null`);
  return [...each, 'uv --version 2>/dev/null', 'true'].join('\n');
}

/** @param lines what `describeCommand` printed */
export function parseDescriptions(lines: readonly string[]): MachinePrograms {
  const interpreters = lines.flatMap((line) => {
    const [, version, path] = /^python (\d+\.\d+) (\/.+)$/.exec(line) ?? [];
    return version !== undefined && path !== undefined && VERSIONS.includes(version) ? [{ version, path }] : [];
  });
  const [, major, minor] = lines.map((line) => /^uv (\d+)\.(\d+)/.exec(line)).find((match) => match) ?? [];
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_UV;
  const isNewer = Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
  return { interpreters, hasUv: major !== undefined && isNewer };
}

/**
 * Returns the Python that a project gets.
 *
 * @param wanted without a patch number; null for any
 * @throws ProjectError with what there is
 */
export function chooseInterpreter(interpreters: readonly Interpreter[], wanted: string | null): Interpreter {
  const chosen = (wanted === null ? VERSIONS : [wanted])
    .map((version) => interpreters.find((each) => each.version === version))
    .find((each) => each !== undefined);
  if (chosen) return chosen;
  const there = VERSIONS.filter((version) => interpreters.some((each) => each.version === version)).sort();
  if (there.length === 0) {
    throw new ProjectError(
      `There is no Python ${wanted ?? 'from 3.11 to 3.14'} on this machine: have the operator add one (RUNYARD_PYTHONS).`,
    );
  }
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(there);
  const one = there.length === 1 ? 'it' : 'one of them';
  throw new ProjectError(
    `Python ${wanted} is not on this machine; it has ${list}. Set "python_version" to ${one}, or have the operator add it (RUNYARD_PYTHONS).`,
  );
}
