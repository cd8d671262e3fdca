import { createReadStream, type Stats } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { type FSWatcher, watch } from 'chokidar';

/** Milliseconds after which a file is read again: a change right after another one is not always reported. */
const LOOK_AGAIN_MS = 50;

/** A log file, as far as it was read. */
interface FollowedFile {
  position: number;
  decoder: StringDecoder;
  /** The beginning of a line whose end is not written yet. */
  rest: string;
  /** Serializes reading: changes come faster than a file is read. */
  reading: Promise<void>;
  again: NodeJS.Timeout | undefined;
}

/** Passes on the lines that are appended to the log files of a folder from now on, of files to come too. */
export class LogFollower {
  readonly #watcher: FSWatcher;
  readonly #files = new Map<string, FollowedFile>();
  readonly #onLine: (line: string) => void;
  #isReady = false;

  /** @param since milliseconds: files that were last written before are over, and there may be thousands of them */
  constructor(folder: string, since: number, onLine: (line: string) => void) {
    this.#onLine = onLine;
    const isOver = (_path: string, stats?: Stats) => stats?.isFile() === true && stats.mtimeMs < since;
    this.#watcher = watch(folder, { alwaysStat: true, followSymlinks: false, ignored: isOver });
    this.#watcher.on('add', (path, stats) => this.#add(path, stats));
    this.#watcher.on('change', (path) => this.#read(path));
    this.#watcher.on('unlink', (path) => this.#files.delete(path));
    // A file that is removed meanwhile is no fault, and what is not followed is still in the logs.
    this.#watcher.on('error', () => undefined);
  }

  /** Resolves when lines are passed on from now on. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve) => this.#watcher.once('ready', resolve));
    this.#isReady = true;
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) clearTimeout(file.again);
    await this.#watcher.close();
    await Promise.all([...this.#files.values()].map(({ reading }) => reading));
  }

  #add(path: string, stats: Stats | undefined): void {
    if (!path.endsWith('.jsonl')) return;
    const position = this.#isReady ? 0 : (stats?.size ?? 0);
    const decoder = new StringDecoder('utf8');
    this.#files.set(path, { position, decoder, rest: '', reading: Promise.resolve(), again: undefined });
    this.#read(path);
  }

  #read(path: string): void {
    const file = this.#files.get(path);
    if (!file) return;
    clearTimeout(file.again);
    file.reading = file.reading
      .then(() => this.#readOn(path, file))
      .then((hasMore) => {
        if (hasMore && !this.#watcher.closed) file.again = setTimeout(() => this.#read(path), LOOK_AGAIN_MS);
      })
      .catch(() => undefined);
  }

  /** Returns whether something was appended. */
  async #readOn(path: string, file: FollowedFile): Promise<boolean> {
    const from = file.position;
    for await (const chunk of createReadStream(path, { start: from })) {
      file.position += (chunk as Buffer).length;
      const lines = (file.rest + file.decoder.write(chunk as Buffer)).split('\n');
      file.rest = lines.pop()!;
      for (const line of lines) this.#onLine(line);
    }
    return file.position > from;
  }
}
