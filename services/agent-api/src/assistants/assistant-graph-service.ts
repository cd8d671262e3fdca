import type { GraphDrawing, GraphSchema, GraphSummary, Subgraphs } from '@runyard/contracts';
import type { GraphHost } from '@runyard/host-client';
import { type AuthUser, type DescribeRequest, GraphRequestError } from '@runyard/host-protocol';
import { UnprocessableError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { userArguments } from '../access/user-arguments.ts';
import { toCallerError } from '../errors/graph-errors.ts';
import type { AssistantRecord } from './assistant-record.ts';
import type { AssistantService } from './assistant-service.ts';
import { configurableOfGraph } from './configurable-keys.ts';

type DescribingHost = Pick<GraphHost, 'drawGraph' | 'getInputKeys' | 'getSchemas' | 'getSubgraphs' | 'getTools'>;

/** Gives the graph host that is running. */
export interface GraphHostProvider {
  /** @throws UnavailableError */
  requireRunning(): Promise<DescribingHost>;
}

/** The caller who asks about a graph. */
export interface GraphRequester {
  scope: Scope;
  /** Request headers that reach `configurable`; the assistant's own value under the same name wins. */
  headers: Record<string, string>;
  /** The project's user who asks, for whom the graph may be made. */
  user?: AuthUser | undefined;
}

/** Describes an assistant's graph as its configuration makes it. */
export class AssistantGraphService {
  readonly #assistants: Pick<AssistantService, 'find'>;
  readonly #host: GraphHostProvider;
  readonly #sourceTimeoutMs: number;

  constructor(options: {
    assistants: Pick<AssistantService, 'find'>;
    host: GraphHostProvider;
    /** Milliseconds that finding the schemas of a graph in its source may take. */
    sourceTimeoutMs: number;
  }) {
    this.#assistants = options.assistants;
    this.#host = options.host;
    this.#sourceTimeoutMs = options.sourceTimeoutMs;
  }

  /** @throws NotFoundError, UnprocessableError */
  async draw(
    requester: GraphRequester,
    idOrGraph: string,
    options: { xray: string | undefined },
  ): Promise<GraphDrawing> {
    const xray = parseXray(options.xray);
    return this.#ask(
      requester,
      idOrGraph,
      async (host, look) => (await host.drawGraph({ ...look, xray })) as unknown as GraphDrawing,
    );
  }

  /**
   * Returns the keys that the input may have; undefined when the graph does not say. Unlike its schemas they cost
   * nothing but the making of the graph. @throws NotFoundError, UnprocessableError
   */
  async inputKeys(requester: GraphRequester, idOrGraph: string): Promise<ReadonlySet<string> | undefined> {
    const keys = await this.#ask(requester, idOrGraph, (host, look) => host.getInputKeys(look));
    return keys === null ? undefined : new Set(keys);
  }

  /** @throws NotFoundError, UnprocessableError */
  async summary(requester: GraphRequester, idOrGraph: string): Promise<GraphSummary> {
    return this.#ask(requester, idOrGraph, async (host, look) => ({
      graph_id: look.graphId,
      input_keys: await host.getInputKeys(look),
      tools: await host.getTools(look).catch(nullIfUnsupported),
    }));
  }

  /** @throws NotFoundError, UnprocessableError */
  async schemas(requester: GraphRequester, idOrGraph: string): Promise<GraphSchema> {
    const sourceTimeoutMs = this.#sourceTimeoutMs;
    return this.#ask(requester, idOrGraph, async (host, look) => ({
      graph_id: look.graphId,
      ...(await host.getSchemas({ ...look, sourceTimeoutMs })),
    }));
  }

  /** @throws NotFoundError, UnprocessableError */
  async subgraphs(
    requester: GraphRequester,
    idOrGraph: string,
    options: { namespace?: string; recurse: boolean },
  ): Promise<Subgraphs> {
    const sourceTimeoutMs = this.#sourceTimeoutMs;
    return this.#ask(requester, idOrGraph, (host, look) => host.getSubgraphs({ ...look, ...options, sourceTimeoutMs }));
  }

  async #ask<T>(
    requester: GraphRequester,
    idOrGraph: string,
    ask: (host: DescribingHost, look: DescribeRequest) => Promise<T>,
  ): Promise<T> {
    const assistant = await this.#assistants.find(requester.scope, idOrGraph);
    const host = await this.#host.requireRunning();
    try {
      return await ask(host, lookRequestOf(assistant, requester));
    } catch (error) {
      throw toCallerError(error);
    }
  }
}

/** A host in another language may be older than the question. @throws any other error */
function nullIfUnsupported(error: unknown): null {
  if (error instanceof GraphRequestError && error.reason === 'unsupported') return null;
  throw error;
}

function lookRequestOf(
  { assistantId, graphId, config, context }: AssistantRecord,
  { headers, user }: GraphRequester,
): DescribeRequest {
  const identity = { graph_id: graphId, assistant_id: assistantId, ...(user && userArguments(user)) };
  // The platform alone says who asks.
  const configurable = { ...configurableOfGraph({ ...headers, ...config.configurable }), ...identity };
  return { graphId, config: { ...config, configurable, context } };
}

/** @throws UnprocessableError */
function parseXray(text: string | undefined): boolean | number {
  const word = text?.toLowerCase();
  if (word === undefined || word === 'false') return false;
  if (word === 'true') return true;
  const depth = /^\d{1,9}$/.test(word) ? Number(word) : 0;
  if (depth === 0) throw new UnprocessableError('Invalid xray value');
  return depth;
}
