import { EventEmitter, once } from 'node:events';
import { stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { isLeftOut, type Sources } from '../project/sources.ts';
import { isSource, Snapshot } from './snapshot.ts';

/** Milliseconds without a further event after which an edit is complete: editors and formatters write several files. */
const QUIET_MS = 60;
/** Milliseconds after which it is looked in any case: an agent may write all the time. */
const BUSY_MS = 500;
/** Milliseconds between looks at whether a watched folder is another one: nothing tells of that. */
const SAME_MS = 1_000;

export interface ProjectWatchOptions {
  sources: Sources;
  /** The platform's own folder, where it writes all the time. */
  dataDir: string;
  /** Called when some of the project cannot be watched. */
  onError(error: unknown): void;
}

/**
 * Watches the files that a project is loaded from. Events of the file system only say when to look: the content of the
 * files decides whether there was an edit. Folders are watched anew after each, since a watch of one that was replaced
 * stays with the old one.
 */
export class ProjectWatch {
  readonly #options: ProjectWatchOptions;
  /** Emits `edit` when there is one. */
  readonly #edits = new EventEmitter<{ edit: [] }>();
  #sources: Sources;
  #watcher: FSWatcher | undefined;
  #snapshot: Snapshot;
  #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** The time of the first event that no look has followed. */
  #eventAt: number | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** The identities of the watched folders. */
  #watched = '';
  readonly #replaced: NodeJS.Timeout;

  private constructor(options: ProjectWatchOptions, snapshot: Snapshot) {
    this.#options = options;
    this.#sources = options.sources;
    this.#snapshot = snapshot;
    this.#replaced = setInterval(() => void this.#lookIfReplaced(), SAME_MS);
  }

  /** Resolves when edits are noticed, those included that come from now on. */
  static async open(options: ProjectWatchOptions): Promise<ProjectWatch> {
    const opened = new ProjectWatch(options, await Snapshot.take(options.sources, options.dataDir));
    await opened.#watchAnew();
    return opened;
  }

  /** Watches what an edited project is loaded from. That other files are watched then is no edit of them. */
  follow(sources: Sources): Promise<void> {
    if (JSON.stringify(sources) === JSON.stringify(this.#sources)) return Promise.resolve();
    return this.#then(async () => {
      const { folders, envFile } = this.#sources;
      const isWatched = (path: string) => path === envFile || folders.some((folder) => path.startsWith(folder + sep));
      this.#sources = sources;
      await this.#compare(isWatched);
    });
  }

  /** Waits for an edit and returns its files. Rejects when the signal aborts. */
  async nextEdit(signal: AbortSignal): Promise<string[]> {
    while (this.#changed.size === 0) await once(this.#edits, 'edit', { signal });
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
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#replaced);
    await this.#looking;
    await this.#watcher?.close();
  }

  #onEvent(): void {
    this.#eventAt ??= performance.now();
    if (performance.now() - this.#eventAt < BUSY_MS) this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#eventAt = undefined;
      void this.#then(() => this.#compare());
    }, QUIET_MS);
  }

  async #lookIfReplaced(): Promise<void> {
    if ((await identitiesOf(this.#sources.folders)) !== this.#watched) this.#onEvent();
  }

  /** Does one thing after the other. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#looking = this.#looking.then(work).catch(this.#options.onError);
    return this.#looking;
  }

  /** Looks for changed files, of all or of some. */
  async #compare(concerns: (path: string) => boolean = () => true): Promise<void> {
    if (this.#isClosed) return;
    await this.#watchAnew();
    const now = await Snapshot.take(this.#sources, this.#options.dataDir, this.#snapshot);
    const changes = now.changesSince(this.#snapshot).filter(concerns);
    this.#snapshot = now;
    for (const path of changes) this.#changed.add(path);
    if (changes.length > 0) this.#edits.emit('edit');
  }

  async #watchAnew(): Promise<void> {
    const { folders, envFile } = this.#sources;
    const envFolder = envFile === null ? [] : [dirname(envFile)];
    // Watches of one path are shared: the new one would get that of the folder which was replaced.
    await this.#watcher?.close();
    this.#watched = await identitiesOf(folders);
    const places = new Set([...folders, ...envFolder]);
    const isWithin = (path: string) => folders.some((folder) => path.startsWith(folder + sep));
    const watcher = watch([...places], {
      ignoreInitial: true,
      // A link may lead to a folder around the project, or to one with much more than its code.
      followSymlinks: false,
      ignored: (path, stats) => {
        if (places.has(path) || stats === undefined) return false;
        if (stats.isDirectory()) return path === this.#options.dataDir || isLeftOut(path) || !isWithin(path);
        return path !== envFile && !(isWithin(path) && isSource(path, envFile));
      },
    });
    this.#watcher = watcher;
    watcher.on('error', this.#options.onError);
    watcher.on('all', () => this.#onEvent());
    // One that fails is as ready as it will be.
    await new Promise<void>((resolve) => watcher.once('ready', resolve).once('error', () => resolve()));
  }
}

/** Returns what differs once one of the folders is away, or another one in its place. */
async function identitiesOf(folders: string[]): Promise<string> {
  const stats = await Promise.all(folders.map((folder) => stat(folder).catch(() => null)));
  return stats.map((found) => (found ? `${found.dev}/${found.ino}` : 'none')).join();
}
