import { isUuid, type RunArguments } from '@runyard/contracts';
import { isProtocolMode, parseProtocolEvent } from '@runyard/host-protocol';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import { NotFoundError } from '@runyard/service-kit';
import type { RunService } from '../runs/run-service.ts';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';
import type { CommandHandler } from './command-context.ts';
import { readGetTree } from './command-params.ts';
import { CommandError } from './protocol-response.ts';
import { readKept } from './read-kept.ts';

interface TreeNode {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: TreeNode[];
}

export interface AgentTreeParts {
  runs: Pick<RunService, 'find'>;
  engine: Pick<RunEngine, 'listRuns'>;
  streams: Pick<RunStreams, 'read'>;
}

/** The command that says what a run consists of, and how far each part is, as far as its stream is kept. */
export class AgentTreeCommand {
  readonly #parts: AgentTreeParts;

  constructor(parts: AgentTreeParts) {
    this.#parts = parts;
  }

  readonly getTree: CommandHandler = async (context, params) => {
    const { run_id } = readGetTree(params);
    const { scope, threadId } = context;
    const runId = run_id ?? (await this.#newestOf(threadId));
    if (!isUuid(runId)) throw noSuchRun();
    const run = await this.#parts.runs.find(scope, threadId, runId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? noSuchRun() : error;
    });
    return { tree: await this.#treeOf(run) };
  };

  async #newestOf(threadId: string): Promise<string | undefined> {
    const only = { threadId, limit: 1, offset: 0, withKwargs: false };
    const [ofThread] = await this.#parts.engine.listRuns(only);
    const [newest] = ofThread ? [ofThread] : await this.#parts.engine.listRuns({ ...only, isStateless: true });
    return newest?.runId;
  }

  async #treeOf(run: RunRecord): Promise<TreeNode> {
    const { config } = run.kwargs as Pick<RunArguments, 'config'>;
    const root: TreeNode = {
      namespace: [],
      status: statusOf(run),
      graph_name: String(config?.configurable?.graph_id ?? run.assistantId),
    };
    const nodes = new Map([['', root]]);
    const { threadId, runId } = run;
    for await (const { kind, event, data } of readKept(this.#parts.streams, threadId, { runId })) {
      if (kind === CONTROL_KINDS.end && parseRunEnd(data).isWaiting) root.status = 'interrupted';
      if (!isProtocolMode(kind)) continue;
      const { channel, namespace } = parseProtocolEvent(kind, event);
      if (channel !== 'lifecycle') continue;
      const { event: status, graph_name } = (JSON.parse(data) as { data: { event: string; graph_name?: string } }).data;
      nodeAt(nodes, namespace, { status, graphName: graph_name });
    }
    return root;
  }
}

function noSuchRun(): CommandError {
  return new CommandError('no_such_run', 'The thread has no such run');
}

function statusOf({ status }: RunRecord): string {
  if (isFailure(status)) return 'failed';
  if (status === 'success') return 'completed';
  return status === 'interrupted' ? 'interrupted' : 'running';
}

/** Finds or adds the node of a namespace, with those above it, and notes its status. */
function nodeAt(
  nodes: Map<string, TreeNode>,
  namespace: string[],
  { status, graphName }: { status: string; graphName: string | undefined },
): TreeNode {
  const key = namespace.join('|');
  let node = nodes.get(key);
  if (!node) {
    const parent = nodeAt(nodes, namespace.slice(0, -1), { status: '', graphName: undefined });
    const name = namespace.at(-1)!.split(':', 1)[0]!;
    node = { namespace, status: 'started', graph_name: graphName ?? name };
    parent.children = [...(parent.children ?? []), node];
    nodes.set(key, node);
  }
  if (status !== '') node.status = status;
  return node;
}
