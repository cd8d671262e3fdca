import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import { copyAssistants, readGraphs } from './copy-assistants.ts';
import type { CopyContext } from './copy-context.ts';
import { copyCrons } from './copy-crons.ts';
import { copyItems } from './copy-items.ts';
import type { CopyReporter } from './copy-reporter.ts';
import { copyThreads, type ThreadOptions } from './copy-threads.ts';
import { KINDS, type Kind, Tally } from './tally.ts';

export interface CopyOptions extends ThreadOptions {
  kinds: readonly Kind[];
  concurrency: number;
  isDryRun: boolean;
  /** Disables crons at the source and enables them at the target. */
  switchCrons: boolean;
}

/**
 * Copies what is at one server to another. Whatever is there already is compared and not written again, so a copy that
 * broke off is gone on with by another one.
 *
 * @returns what became of everything
 */
export async function copy(
  source: AgentServer,
  target: AgentServer,
  options: CopyOptions,
  reporter: CopyReporter,
): Promise<Map<Kind, Tally>> {
  const { concurrency, isDryRun } = options;
  const graphs = await readGraphs(target);
  const tallies = new Map<Kind, Tally>();
  // Crons come last: they name assistants and threads.
  for (const kind of KINDS.filter((known) => options.kinds.includes(known))) {
    const tally = new Tally();
    const onProgress = () => reporter.progress(kind, tally);
    const context: CopyContext = { source, target, tally, graphs, concurrency, isDryRun, onProgress };
    try {
      for (const sentence of await copyKind(kind, context, options)) reporter.warn(sentence);
      tallies.set(kind, tally);
      reporter.done(kind, tally);
    } catch (error) {
      if (!(error instanceof ServerRefusedError) || !error.isMissingOperation || tally.found > 0) throw error;
      reporter.warn(`One of the servers has no ${kind}: ${error.message}`);
    }
  }
  return tallies;
}

/** @returns sentences about what the counts do not show */
async function copyKind(kind: Kind, context: CopyContext, options: CopyOptions): Promise<string[]> {
  const changed = ({ hasChanged }: { hasChanged: boolean }) =>
    hasChanged ? [`The ${kind} of the source changed meanwhile: run the command again to copy what is new.`] : [];
  switch (kind) {
    case 'assistants':
      await copyAssistants(context);
      return [];
    case 'threads':
      return changed(await copyThreads(context, options));
    case 'store':
      return changed(await copyItems(context));
    case 'crons': {
      const waiting = await copyCrons(context, { isSwitched: options.switchCrons });
      if (waiting === 0) return [];
      return [
        `${waiting} crons are disabled at the target. --switch-crons disables them at the source and enables them there.`,
      ];
    }
  }
}
