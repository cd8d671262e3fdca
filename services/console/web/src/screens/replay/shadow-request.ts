import type { AssistantVersion, Run, RunCreateStateful } from '@runyard/contracts';
import { isActive } from '../../platform/runs.ts';
import { OF_THE_PLATFORM } from '../run/run-facts.ts';
import { configurableOf, type RunStart } from './run-start.ts';

/** The metadata that the platform gives a run, and that of a replay. */
const GIVEN_METADATA = ['graph_id', 'assistant_id', 'created_by', 'cron_id', 'replay_of', 'replay_batch'];

/** The choices of a person for a shadow. A part that is left out is as it was. */
export interface ShadowChoices {
  assistantId: string;
  input?: { value: unknown };
  configurable?: Record<string, unknown>;
  /** Shared by the shadows that were made together. */
  batch?: string;
}

/** Returns the sentence that says why a run cannot be replayed, as far as the run itself tells; else undefined. */
export function refuseRun(run: Run | null): string | undefined {
  if (!run)
    return 'Its deployment does not have the run any more: its thread was deleted, or it was a run without a thread.';
  if (isActive(run.status)) return 'The run has not ended yet.';
  const { kwargs } = run;
  const parts = [kwargs, kwargs?.input, kwargs?.command, kwargs?.config];
  if (parts.some(isUndecryptable)) return 'The run was encrypted, and cannot be decrypted any more.';
  if (!kwargs || !('input' in kwargs)) return 'The input of the run was not kept.';
  return undefined;
}

/** Returns the sentence that says why a run cannot be replayed from what it began with; else undefined. */
export function refuseStart({ kwargs }: Run, { type }: RunStart): string | undefined {
  if (type === 'lost') return 'The checkpoint that the run began from has been deleted.';
  if (type === 'unclear')
    return 'The run kept a checkpoint at its end only, and the thread had runs before: what it began from is not known.';
  if (type === 'empty' && kwargs.input == null && kwargs.command == null)
    return 'The run has no input, and no state that it went on from.';
  return undefined;
}

/**
 * Returns the configuration that the request of a run gave, without what came from its assistant: in a shadow another
 * assistant gives its own.
 *
 * @param versions of the assistant of the run
 */
export function ownConfigurable(run: Run, versions: readonly AssistantVersion[]): Record<string, unknown> {
  const given = versions.map(({ config, context }) => ({
    ...config?.configurable,
    ...(context as object | undefined),
  }));
  const own = Object.entries(configurableOf(run)).filter(
    ([name, value]) => !OF_THE_PLATFORM.test(name) && !given.some((each) => isSame(each, name, value)),
  );
  return Object.fromEntries(own);
}

/**
 * Returns the request that makes the shadow of a run. It sends no webhook, and asks for no feedback.
 *
 * @param versions of the assistant of the run
 */
export function shadowRequest(
  run: Run,
  { start, versions }: { start: RunStart; versions: readonly AssistantVersion[] },
  { assistantId, input, configurable, batch }: ShadowChoices,
): RunCreateStateful {
  const { kwargs } = run;
  const config = (kwargs.config ?? {}) as Record<string, unknown>;
  const configs = versions.map(({ config }) => config as Record<string, unknown>);
  const own = (name: string) =>
    config[name] !== undefined && !configs.some((each) => isSame(each, name, config[name]))
      ? { [name]: config[name] }
      : {};
  const metadata = Object.entries(run.metadata).filter(
    ([name, value]) =>
      !GIVEN_METADATA.includes(name) && !versions.some(({ metadata }) => isSame(metadata, name, value)),
  );
  return {
    assistant_id: assistantId,
    ...(kwargs.command == null ? { input: input ? input.value : kwargs.input } : { command: kwargs.command }),
    ...(start.type === 'checkpoint' && { checkpoint: { checkpoint_id: start.id } }),
    metadata: { ...Object.fromEntries(metadata), replay_of: run.run_id, ...(batch && { replay_batch: batch }) },
    config: {
      ...own('recursion_limit'),
      ...own('tags'),
      // With events by tasks and messages, so that it can be watched.
      configurable: { ...(configurable ?? ownConfigurable(run, versions)), __event_streaming_v2: true },
    },
    ...copyOf(kwargs, ['interrupt_before', 'interrupt_after', 'durability']),
  } as RunCreateStateful;
}

function copyOf(kwargs: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (kwargs[name] == null ? [] : [[name, kwargs[name]]])));
}

function isSame(given: object | null | undefined, name: string, value: unknown): boolean {
  return JSON.stringify((given as Record<string, unknown> | null | undefined)?.[name]) === JSON.stringify(value);
}

function isUndecryptable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '__error__' in value;
}
