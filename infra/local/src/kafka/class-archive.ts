import { rename } from 'node:fs/promises';
import { cachePath, exists } from '../supervision/cache-folder.ts';
import { takeExclusiveFile } from '../supervision/exclusive-file.ts';
import type { ProcessEnd } from '../supervision/supervised-process.ts';

/** The exit code of Java after SIGTERM. */
const STOPPED = 143;

/**
 * An archive of the classes of a Java program, which Java maps into memory instead of reading and checking each of
 * them: a broker starts with half the processor time. Java writes it when a program ends in order.
 */
export interface ClassArchive {
  /** The options with which Java uses the archive, or writes it. */
  options: string[];
  /** Milliseconds that writing it may add to the end of the program. */
  writingMs: number;
  /** Keeps what was written for later starts, when the program ended in order. Must be called once when it has ended. */
  close(end: ProcessEnd): Promise<void>;
}

/** Milliseconds that a slow machine may write, once. */
const WRITING_MS = 30_000;

const noArchive: ClassArchive = { options: [], writingMs: 0, close: async () => {} };

/**
 * Opens the archive of a broker in the user's cache. Java ignores one that does not fit, and goes on without where it
 * cannot read or write it: nothing but the time of a start depends on it.
 *
 * @param identity text that differs for every Java and every set of classes
 */
export async function openClassArchive(identity: string, environment: NodeJS.ProcessEnv): Promise<ClassArchive> {
  const path = cachePath('kafka-classes', identity, environment);
  const archive = `${path}.jsa`;
  if (await exists(archive)) return { ...noArchive, options: [`-XX:SharedArchiveFile=${archive}`] };
  const writer = await takeExclusiveFile(`${path}.lock`).catch(() => null);
  // Another platform writes it already, or nobody may.
  if (!writer || 'holder' in writer) return noArchive;
  const unfinished = `${path}.unfinished`;
  return {
    options: [`-XX:ArchiveClassesAtExit=${unfinished}`],
    writingMs: WRITING_MS,
    async close({ code }) {
      if (code === STOPPED) await rename(unfinished, archive).catch(() => {});
      await writer.release();
    },
  };
}
