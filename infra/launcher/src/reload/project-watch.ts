import { EventEmitter, once } from 'node:events';
import { type FSWatcher, watch } from 'chokidar';
import { isLeftOut, isSource } from './watched-files.ts';

/** Milliseconds without a further change after which an edit is complete: editors and formatters write several files. */
const QUIET_MS = 60;

export interface ProjectWatchOptions {
  paths: string[];
  /** The project's file of variables, which may have any name. */
  envFile: string | null;
  /** The platform's own folder, where it writes all the time. */
  dataDir: string;
  /** Called when some of the project cannot be watched. */
  onError(error: unknown): void;
}

/** Watches the files that a project is loaded from. */
export class ProjectWatch {
  readonly #watcher: FSWatcher;
  readonly #changed = new Set<string>();
  /** Emits `edit` when files have changed and no more do. */
  readonly #edits = new EventEmitter<{ edit: [] }>();
  #envFile: string | null;
  #quiet: NodeJS.Timeout | undefined;

  constructor({ paths, envFile, dataDir, onError }: ProjectWatchOptions) {
    this.#envFile = envFile;
    this.#watcher = watch(paths, {
      ignoreInitial: true,
      // A link may lead to a folder around the project, or to one with much more than its code.
      followSymlinks: false,
      ignored: (path, stats) => {
        if (paths.includes(path) || stats === undefined) return false;
        if (stats.isDirectory()) return path === dataDir || isLeftOut(path);
        return !isSource(path, this.#envFile);
      },
    });
    this.#watcher.on('all', (event, path) => {
      if (!event.endsWith('Dir') && isSource(path, this.#envFile)) this.#add(path);
    });
    this.#watcher.on('error', onError);
  }

  /** Resolves when changes are noticed from now on. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve) => this.#watcher.once('ready', resolve));
  }

  /** Watches what an edited project is loaded from besides. */
  extend(paths: string[], envFile: string | null): void {
    this.#envFile = envFile;
    this.#watcher.add(paths);
  }

  /** Waits for an edit and returns its files. Rejects when the signal aborts. */
  async nextEdit(signal: AbortSignal): Promise<string[]> {
    while (this.#changed.size === 0 || this.#quiet) await once(this.#edits, 'edit', { signal });
    const files = [...this.#changed];
    this.#changed.clear();
    return files;
  }

  /** Does work that the next edit makes pointless: its signal aborts then, and when the other one does. */
  async untilNextEdit<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const edited = new AbortController();
    const onEdit = () => edited.abort();
    this.#edits.once('edit', onEdit);
    try {
      return await work(AbortSignal.any([signal, edited.signal]));
    } finally {
      this.#edits.off('edit', onEdit);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#quiet);
    await this.#watcher.close();
  }

  #add(path: string): void {
    this.#changed.add(path);
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      this.#edits.emit('edit');
    }, QUIET_MS);
  }
}
