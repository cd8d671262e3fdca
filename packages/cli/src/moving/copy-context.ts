import type { AgentServer } from '../agent-server/agent-server.ts';
import { CliError, ExitCode, InterruptedError, reasonOf } from '../cli-error.ts';
import { Fingerprint } from './fingerprint.ts';
import { nameOf } from './row-name.ts';
import type { Tally } from './tally.ts';

/** The servers, options and counts that copying one kind of things needs. */
export interface CopyContext {
  source: AgentServer;
  target: AgentServer;
  tally: Tally;
  graphs: TargetGraphs;
  /** How many things are copied at once. */
  concurrency: number;
  /** Nothing is written: what would be copied counts as copied. */
  isDryRun: boolean;
  /** Called after each thing. */
  onProgress(): void;
}

/** The graphs of the target, each with its default assistant. */
export type TargetGraphs = Map<string, { assistantId: string }>;

/** Failures in a row, each of a server that is away or refuses the key, after which the rest would fail too. */
const FAILURES_MAX = 10;

/**
 * Copies each of the rows, some at once. What goes wrong with one is counted and stops no other, unless a server is
 * away or refuses the key for good, or the command is interrupted.
 */
export async function copyEach<T>(
  pages: AsyncIterable<T[]>,
  { tally, concurrency, onProgress }: CopyContext,
  idOf: (row: T) => string,
  copyOne: (row: T) => Promise<void>,
): Promise<void> {
  let failuresInARow = 0;
  const fail = (row: T, error: unknown) => {
    if (error instanceof InterruptedError) throw error;
    // Odd values, as one nested too deeply, break the copying of their row and not of the others.
    tally.add('failed', nameOf(row, idOf), reasonOf(error));
    failuresInARow = mayPass(error) ? 0 : failuresInARow + 1;
    if (failuresInARow >= FAILURES_MAX) throw error;
  };
  const copyRows = async (rows: Iterable<T>) => {
    for (const row of rows) {
      try {
        await copyOne(row);
        failuresInARow = 0;
      } catch (error) {
        fail(row, error);
      }
      onProgress();
    }
  };
  for await (const rows of pages) {
    const waiting = rows.values();
    await Promise.all(Array.from({ length: concurrency }, () => copyRows(waiting)));
  }
}

/**
 * Copies each row of a list, and lists them again afterwards.
 *
 * @param list.identityOf another one for a row that has changed
 * @returns whether the source changed meanwhile
 */
export async function copyWatched<T>(
  list: { read(): AsyncIterable<T[]>; idOf(row: T): string; identityOf(row: T): string },
  context: CopyContext,
  copyOne: (row: T) => Promise<void>,
): Promise<{ hasChanged: boolean }> {
  const [before, after] = [new Fingerprint(), new Fingerprint()];
  await copyEach(before.watch(list.read(), list.identityOf), context, list.idOf, copyOne);
  for await (const _page of after.watch(list.read(), list.identityOf));
  return { hasChanged: !before.equals(after) };
}

/** Returns whether the next thing may succeed although this one failed. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof CliError)) return true;
  return error.exitCode !== ExitCode.unreachable && error.exitCode !== ExitCode.denied;
}
