import type { PostgresCheckpoints } from '@runyard/checkpointer';
import type { RunArguments } from '@runyard/contracts';
import type { GraphHost } from '@runyard/host-client';
import type { FactoryConfig } from '@runyard/host-protocol';
import type { RunEngine } from '@runyard/run-engine';
import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { privateOf } from '../access/user-arguments.ts';
import type { AssistantLookup } from '../assistants/assistant-lookup.ts';
import { configurableOfGraph } from '../assistants/configurable-keys.ts';

export interface LastConfigurationOptions {
  host: { requireRunning(): Promise<Pick<GraphHost, 'graphs'>> };
  checkpoints: Pick<PostgresCheckpoints, 'newestOrigin'>;
  engine: Pick<RunEngine, 'findRuns' | 'listRuns'>;
  assistants: () => Pick<AssistantLookup, 'find'>;
}

/**
 * Finds the configuration that a thread was last run with, for graphs that are made anew for each use: nodes may exist
 * only under it. It is kept with the run that made the thread's newest state. Once that run is deleted, the current
 * configuration of its assistant takes its place.
 */
export class LastConfiguration {
  readonly #options: LastConfigurationOptions;

  constructor(options: LastConfigurationOptions) {
    this.#options = options;
  }

  async of(threadId: string, graphId: string): Promise<FactoryConfig | undefined> {
    const { host, checkpoints, engine } = this.#options;
    const graphs = (await host.requireRunning()).graphs();
    if (!graphs.some((graph) => graph.graphId === graphId && graph.isFactory)) return undefined;
    const origin = await checkpoints.newestOrigin(threadId);
    // A pruned thread whose only state was written from outside has no checkpoint of a run.
    const [run] = origin
      ? await engine.findRuns([origin.runId])
      : await engine.listRuns({ threadId, limit: 1, offset: 0 });
    if (run && !run.fault) return configurationOf(run.kwargs as RunArguments, { isCopy: run.threadId !== threadId });
    return origin?.assistantId ? this.#ofAssistant(origin.assistantId, graphId) : undefined;
  }

  async #ofAssistant(assistantId: string, graphId: string): Promise<FactoryConfig | undefined> {
    try {
      const { config, context } = await this.#options.assistants().find(UNRESTRICTED, assistantId);
      const own = { graph_id: graphId, assistant_id: assistantId };
      const configurable = { ...configurableOfGraph(config.configurable ?? {}), ...own };
      return { ...config, configurable, context };
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof UnprocessableError) return undefined;
      throw error;
    }
  }
}

/** @param isCopy true for a state that was copied from the thread of the run */
function configurationOf({ config, context }: RunArguments, { isCopy }: { isCopy: boolean }): FactoryConfig {
  // A factory may make the graph for the run's user, who need not be the one of a copy.
  const ofUser = isCopy ? {} : privateOf(config.configurable);
  const configurable = { ...configurableOfGraph(config.configurable), ...ofUser };
  return { ...config, configurable, context };
}
