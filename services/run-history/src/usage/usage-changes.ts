import { type RunUsage, RunUsed } from '@runyard/contracts';
import type { StoredRun } from '../runs/stored-run.ts';
import { startOfStep } from '../sums/step.ts';
import { NOTHING_USED, newerUsage, usageSince } from './attempt-usage.ts';

type UsedEvent = { data: RunUsage & { run_id: string; attempt: number } };

/** The last known usage of an attempt. */
export interface StoredUsage extends RunUsage {
  run_id: string;
  attempt: number;
}

/** The numbers that are added up, which are columns of table `usage` too. */
export const USED = [
  'runs',
  'model_calls',
  'tool_calls',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
  'reasoning_tokens',
] as const;
export type Used = (typeof USED)[number];

const NONE = Object.fromEntries(USED.map((each) => [each, 0])) as Record<Used, number>;

const USAGE_STEPS = ['hour', 'day'] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** The numbers that are added to those of somebody, for a model, and an hour or a day. */
export interface UsageRow extends Record<Used, number> {
  deployment_id: string;
  step: UsageStep;
  /** ISO 8601, UTC. */
  start: string;
  assistant_id: string;
  creator_kind: string;
  creator: string;
  key_id: string;
  provider: string;
  model: string;
}

/** Gathers what events of runs add to usage. An event that comes again, or late, adds nothing. */
export class UsageChanges {
  /** By run and attempt. */
  readonly #known: Map<string, StoredUsage>;
  readonly #changed = new Map<string, StoredUsage>();
  readonly #rows = new Map<string, UsageRow>();

  /** @param known what the journal has of the attempts that the events are about */
  constructor(known: readonly StoredUsage[]) {
    this.#known = new Map(known.map((usage) => [keyOf(usage), usage]));
  }

  /** The usage of attempts that has changed. */
  get attempts(): StoredUsage[] {
    return [...this.#changed.values()];
  }

  get rows(): UsageRow[] {
    return [...this.#rows.values()];
  }

  /** Counts a run for those who have made it. */
  addRun(run: StoredRun): void {
    this.#add(run, run.created_at!, { runs: 1 });
  }

  /**
   * Takes what an attempt has used by an event, and returns its run with that.
   *
   * @param time of the event, in ISO 8601
   */
  addUsed(run: StoredRun, { data }: UsedEvent, time: string): StoredRun {
    const { run_id, attempt, models, tools } = data;
    const key = keyOf({ run_id, attempt });
    const before = this.#known.get(key) ?? NOTHING_USED;
    const after = newerUsage(before, { models, tools });
    const added = usageSince(before, after);
    const stored = { run_id: run.run_id, attempt, ...after };
    this.#known.set(key, stored);
    this.#changed.set(key, stored);
    const toolCalls = sum(added.tools.map(({ calls }) => calls));
    if (toolCalls > 0) this.#add(run, time, { tool_calls: toolCalls });
    for (const { provider, model, calls, failed: _, ...tokens } of added.models) {
      if (calls > 0 || Object.values(tokens).some((count) => count > 0)) {
        this.#add(run, time, { model_calls: calls, ...tokens }, { provider, model });
      }
    }
    return {
      ...run,
      model_calls: (run.model_calls ?? 0) + sum(added.models.map(({ calls }) => calls)),
      tool_calls: (run.tool_calls ?? 0) + toolCalls,
      input_tokens: (run.input_tokens ?? 0) + sum(added.models.map(({ input_tokens }) => input_tokens)),
      output_tokens: (run.output_tokens ?? 0) + sum(added.models.map(({ output_tokens }) => output_tokens)),
    };
  }

  #add(
    run: StoredRun,
    time: string,
    added: Partial<Record<Used, number>>,
    { provider, model }: { provider: string; model: string } = { provider: '', model: '' },
  ): void {
    for (const step of USAGE_STEPS) {
      const key = {
        deployment_id: run.deployment_id,
        step,
        start: startOfStep(time, step),
        assistant_id: run.assistant_id,
        creator_kind: run.creator_kind ?? '',
        creator: run.creator ?? '',
        key_id: run.creator_key_id ?? '',
        provider,
        model,
      };
      const text = JSON.stringify(Object.values(key));
      const row = this.#rows.get(text) ?? { ...key, ...NONE };
      for (const each of USED) row[each] += added[each] ?? 0;
      this.#rows.set(text, row);
    }
  }
}

/** Returns whether an event says what an attempt has used. */
export function isUsed<Event extends { type: string }>(
  event: Event,
): event is Extract<Event, { type: 'runyard.run.used' }> {
  return event.type === RunUsed.properties.type.const;
}

function keyOf({ run_id, attempt }: { run_id: string; attempt: number }): string {
  return `${run_id.toLowerCase()} ${attempt}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
