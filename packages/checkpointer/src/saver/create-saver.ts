import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  BaseCheckpointSaver,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite as GraphWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { CheckpointBackend, CheckpointKey, CheckpointPut, PendingWrite, StoredCheckpoint } from '../backend.ts';
import type { CheckpointModule } from '../checkpoint-module.ts';
import { CallOrder } from './call-order.ts';
import { checkpointPut } from './checkpoint-put.ts';
import { KnownVersions } from './known-versions.ts';
import { withPlainJson } from './plain-json.ts';
import { guardSerializer, type RevivableModules } from './revival.ts';
import { deserialize, serialize } from './serialize.ts';

export interface SaverOptions {
  /** Replaces the project's default serializer. */
  serde?: SerializerProtocol;
  /** Classes that stored values may become again, in addition to those that only hold data. */
  revivableModules?: RevivableModules;
}

type SaverClass = new (backend: CheckpointBackend, options: SaverOptions) => BaseCheckpointSaver;

/** The format of checkpoints from which on the sends of a step are a channel like others. */
const SENDS_ARE_A_CHANNEL = 4;

/** Number of checkpoints per request at most. */
const PAGE = 50;

/** One class for each copy of LangGraph's library, so that a saver per run needs no class per run. */
const classes = new WeakMap<object, SaverClass>();

/**
 * Creates a checkpoint saver of the project's own LangGraph over any backend. Every use of a graph (a run, a state
 * read) needs its own: the saver remembers what it loaded and stored, and after a value failed to serialize it stores
 * nothing more on that thread.
 *
 * - Only changed channels are sent to the backend; the others are inherited from the parent checkpoint.
 * - Puts and writes of a thread reach the backend in the order in which LangGraph called them.
 */
export function createSaver(
  module: CheckpointModule,
  backend: CheckpointBackend,
  options: SaverOptions = {},
): BaseCheckpointSaver {
  let Saver = classes.get(module.BaseCheckpointSaver);
  if (!Saver) {
    Saver = saverClass(module);
    classes.set(module.BaseCheckpointSaver, Saver);
  }
  return new Saver(backend, options);
}

function saverClass({
  BaseCheckpointSaver,
  WRITES_IDX_MAP,
  TASKS,
  emptyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
}: CheckpointModule): SaverClass {
  const ownFormat = emptyCheckpoint().v;
  return class RunyardSaver extends BaseCheckpointSaver {
    readonly #backend: CheckpointBackend;
    readonly #known = new KnownVersions();
    readonly #orders = new Map<string, CallOrder>();

    constructor(backend: CheckpointBackend, options: SaverOptions) {
      super(options.serde);
      this.serde = guardSerializer(options.serde ?? withPlainJson(this.serde), options.revivableModules);
      this.#backend = backend;
    }

    override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
      const { thread_id: threadId, checkpoint_ns: namespace = '' } = config.configurable ?? {};
      if (threadId === undefined) return undefined;
      const stored = await this.#backend.get(threadId, namespace, getCheckpointId(config) || undefined);
      return stored && this.#tupleOf(stored);
    }

    override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
      const { thread_id, checkpoint_ns: namespace } = config.configurable ?? {};
      // Projects also leave fields out by null.
      const threadId: string | undefined = thread_id ?? undefined;
      const checkpointId = getCheckpointId(config) || undefined;
      const beforeCheckpointId = options.before && (getCheckpointId(options.before) || undefined);
      const query = { threadId, namespace, checkpointId, beforeCheckpointId, filter: options.filter };
      let after: CheckpointKey | undefined;
      for (let left = options.limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
        const page = await this.#backend.list({ ...query, after, limit: Math.min(left, PAGE) });
        if (page.length === 0) return;
        for (const stored of page) yield await this.#tupleOf(stored);
        left -= page.length;
        after = page.at(-1)?.key;
      }
    }

    override async put(
      config: RunnableConfig,
      checkpoint: Checkpoint,
      metadata: CheckpointMetadata,
      newVersions: Record<string, string | number>,
    ): Promise<RunnableConfig> {
      const threadId = requiredField(config, 'thread_id', 'put a checkpoint');
      const namespace: string = config.configurable?.checkpoint_ns ?? '';
      const parentCheckpointId = getCheckpointId(config) || undefined;
      const key = { threadId, namespace, checkpointId: checkpoint.id };
      const parentVersions =
        parentCheckpointId === undefined
          ? undefined
          : this.#known.of({ threadId, namespace, checkpointId: parentCheckpointId });
      const prepared: Promise<CheckpointPut> = checkpointPut({
        serde: this.serde,
        key,
        parentCheckpointId,
        parentVersions,
        checkpoint,
        metadata,
        newVersions,
      });
      this.#known.remember(key, versionsAsText(checkpoint));
      await this.#order(threadId).call(prepared, (put) => this.#backend.put(put));
      return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpoint.id } };
    }

    override async putWrites(config: RunnableConfig, writes: GraphWrite[], taskId: string): Promise<void> {
      const threadId = requiredField(config, 'thread_id', 'put writes');
      const checkpointId = requiredField(config, 'checkpoint_id', 'put writes');
      const namespace: string = config.configurable?.checkpoint_ns ?? '';
      const serialized = Promise.all(
        writes.map(async ([channel, value], position) => ({
          index: WRITES_IDX_MAP[channel] ?? position,
          channel: String(channel),
          value: await serialize(this.serde, value),
        })),
      );
      await this.#order(threadId).call(serialized, (rows) =>
        this.#backend.putWrites({ key: { threadId, namespace, checkpointId }, taskId, taskPath: '', writes: rows }),
      );
    }

    override async deleteThread(threadId: string): Promise<void> {
      await this.#order(threadId).call(Promise.resolve(), () => this.#backend.deleteThread(threadId));
    }

    /** Makes one request, where the default reads up to a thousand ancestors separately. */
    override async getDeltaChannelHistory(options: {
      config: RunnableConfig;
      channels: string[];
    }): Promise<Record<string, DeltaChannelHistory>> {
      const { thread_id: threadId, checkpoint_ns: namespace = '' } = options.config.configurable ?? {};
      const checkpointId = getCheckpointId(options.config);
      if (!this.#backend.channelHistories || threadId === undefined || !checkpointId) {
        return super.getDeltaChannelHistory(options);
      }
      if (options.channels.length === 0) return {};
      const histories = await this.#backend.channelHistories({ threadId, namespace, checkpointId }, options.channels);
      const entries = histories.map(async ({ channel, seed, writes }) => {
        const history: DeltaChannelHistory = { writes: await this.#writesOf(writes) };
        if (seed) history.seed = await deserialize(this.serde, seed);
        return [channel, history] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    }

    #writesOf(writes: PendingWrite[]): Promise<CheckpointPendingWrite[]> {
      return Promise.all(
        writes.map(
          async ({ taskId, channel, value }): Promise<CheckpointPendingWrite> => [
            taskId,
            channel,
            await deserialize(this.serde, value),
          ],
        ),
      );
    }

    #order(threadId: string): CallOrder {
      let order = this.#orders.get(threadId);
      if (!order) {
        order = new CallOrder();
        this.#orders.set(threadId, order);
      }
      return order;
    }

    async #tupleOf(stored: StoredCheckpoint): Promise<CheckpointTuple> {
      const { key, parentCheckpointId } = stored;
      const [checkpoint, metadata, values, pendingWrites] = await Promise.all([
        deserialize(this.serde, stored.checkpoint) as Promise<Checkpoint>,
        deserialize(this.serde, stored.metadata) as Promise<CheckpointMetadata>,
        Promise.all(
          stored.channelValues.map(
            async ({ channel, value }) => [channel, await deserialize(this.serde, value)] as const,
          ),
        ),
        this.#writesOf(stored.pendingWrites),
      ]);
      checkpoint.channel_values = Object.fromEntries(values);
      this.#known.remember(key, versionsAsText(checkpoint));
      if (checkpoint.v < SENDS_ARE_A_CHANNEL || ownFormat < SENDS_ARE_A_CHANNEL)
        await this.#addPendingSends(checkpoint, key, parentCheckpointId);
      return {
        config: configOf(key.threadId, key.namespace, key.checkpointId),
        checkpoint,
        metadata,
        pendingWrites,
        ...(parentCheckpointId !== undefined && {
          parentConfig: configOf(key.threadId, key.namespace, parentCheckpointId),
        }),
      };
    }

    /**
     * Adds the sends of the last step where this LangGraph looks for them. In formats before 4 they are not a channel,
     * but writes of the parent checkpoint, and LangGraph expects them beside the channels.
     */
    async #addPendingSends(
      checkpoint: Checkpoint & { pending_sends?: unknown[] },
      key: StoredCheckpoint['key'],
      parentCheckpointId: string | undefined,
    ): Promise<void> {
      const { channel_values: values, channel_versions: versions } = checkpoint;
      if (checkpoint.v >= SENDS_ARE_A_CHANNEL) {
        checkpoint.pending_sends = (values[TASKS] as unknown[] | undefined) ?? [];
        return;
      }
      const sends = await this.#sendsAt(key, parentCheckpointId);
      if (ownFormat < SENDS_ARE_A_CHANNEL) {
        checkpoint.pending_sends = sends;
      } else if (parentCheckpointId !== undefined) {
        const known = Object.values(versions);
        values[TASKS] = sends;
        versions[TASKS] = known.length > 0 ? maxChannelVersion(...known) : this.getNextVersion(undefined);
      }
    }

    async #sendsAt({ threadId, namespace }: StoredCheckpoint['key'], checkpointId?: string): Promise<unknown[]> {
      if (checkpointId === undefined) return [];
      const stored = await this.#backend.get(threadId, namespace, checkpointId);
      const sends = (stored?.pendingWrites ?? []).filter(({ channel }) => channel === TASKS);
      return Promise.all(sends.map(({ value }) => deserialize(this.serde, value)));
    }
  };
}

function configOf(threadId: string, namespace: string, checkpointId: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpointId } };
}

function versionsAsText(checkpoint: Checkpoint): Record<string, string> {
  return Object.fromEntries(
    Object.entries(checkpoint.channel_versions).map(([channel, version]) => [channel, String(version)]),
  );
}

function requiredField(config: RunnableConfig, field: string, intent: string): string {
  const value: unknown = config.configurable?.[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`Cannot ${intent}: the config's "configurable" has no "${field}".`);
}
