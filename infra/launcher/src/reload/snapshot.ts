import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { isLeftOut, type Sources } from '../project/sources.ts';

/** Files of code. Others may be what an agent itself writes: if they counted, each of its runs would reload it. */
const CODE = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.py']);

/** Files that say how code is loaded, and which packages it has. */
const SETTINGS = /^(langgraph\.json|package\.json|pyproject\.toml|requirements.*\.txt|uv\.lock|[jt]sconfig.*\.json)$/;

/** The content of a file, and when it was read: a file of the same stamp is not read again. */
interface SeenFile {
  stamp: string;
  digest: string;
}

/** The files that a project is loaded from, with their content, at one moment. */
export class Snapshot {
  static readonly #NOTHING = new Snapshot(new Map());
  readonly #files: ReadonlyMap<string, SeenFile>;

  private constructor(files: ReadonlyMap<string, SeenFile>) {
    this.#files = files;
  }

  /**
   * Reads all of a project's files that are not as they were before.
   *
   * @param dataDir the platform's own folder, where it writes all the time
   */
  static async take({ folders, envFile }: Sources, dataDir: string, before = Snapshot.#NOTHING): Promise<Snapshot> {
    const files = new Map<string, SeenFile>();
    const add = async (path: string) => {
      const file = await see(path, before.#files.get(path));
      if (file) files.set(path, file);
    };
    const walk = async (folder: string): Promise<void> => {
      // A folder that is away, or may not be read, has no files.
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) {
          if (path !== dataDir && !isLeftOut(path)) await walk(path);
        } else if (isSource(path, envFile)) await add(path);
      }
    };
    for (const folder of folders) await walk(folder);
    if (envFile !== null && !files.has(envFile)) await add(envFile);
    return new Snapshot(files);
  }

  /** Returns the files that were written, made or removed since another snapshot. */
  changesSince(before: Snapshot): string[] {
    const paths = new Set([...this.#files.keys(), ...before.#files.keys()]);
    return [...paths].filter((path) => this.#files.get(path)?.digest !== before.#files.get(path)?.digest);
  }
}

/** Returns whether the content of a file says how the project runs. */
export function isSource(path: string, envFile: string | null): boolean {
  const name = basename(path);
  return CODE.has(extname(name)) || SETTINGS.test(name) || path === envFile;
}

/** Returns undefined for a file that is not there, or may not be read. */
async function see(path: string, before: SeenFile | undefined): Promise<SeenFile | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    const stamp = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    if (before?.stamp === stamp) return before;
    return {
      stamp,
      digest: createHash('sha256')
        .update(await readFile(path))
        .digest('base64'),
    };
  } catch {
    return undefined;
  }
}
