/** Answers the child's requests on checkpoints and store from the backends of the use they belong to. */
import {
  BackendError,
  type ChannelHistory,
  type CheckpointBackend,
  type CheckpointKey,
  type StoreOperation,
} from '@runyard/checkpointer';
import {
  type HostConnection,
  type Incoming,
  packHistories,
  packStored,
  type ToParent,
  unpackPut,
  unpackWrites,
} from '@runyard/host-protocol';
import type { GraphBackends } from './types.ts';

export interface BackendUse {
  use: number;
  backends: GraphBackends;
  /** Is called with the promise of each commit. */
  trackPut?(committed: Promise<unknown>): void;
  onBackendError?(error: BackendError): void;
}

type Request = ToParent[
  | 'checkpoint.get'
  | 'checkpoint.list'
  | 'checkpoint.put'
  | 'checkpoint.putWrites'
  | 'checkpoint.deleteThread'
  | 'checkpoint.channelHistories'
  | 'store.batch'];

export function answerBackendRequest(connection: HostConnection, use: BackendUse, message: Incoming): void {
  const request = message.header as unknown as Request;
  operate(use, request, message.raw)
    .then(({ ok, raw }) => answer(connection, use, request, { ok, raw }))
    .catch((cause: unknown) => {
      const error = cause instanceof BackendError ? cause : unexpected(cause);
      use.onBackendError?.(error);
      connection.answerError(use.use, request.id, { kind: error.reason, error: error.name, message: error.message });
    });
}

/** @throws BackendError for what no message can carry */
function answer(connection: HostConnection, { use }: BackendUse, { id, t }: Request, { ok, raw }: Found): void {
  try {
    connection.answer(use, id, ok, raw);
  } catch (cause) {
    const message = `What ${t} found is too large for one message: ${(cause as Error).message}`;
    throw new BackendError('too_large', message, { cause });
  }
}

interface Found {
  ok: unknown;
  raw?: Uint8Array[] | undefined;
}

async function operate(use: BackendUse, request: Request, raw: Buffer): Promise<Found> {
  const { store } = use.backends;
  if (request.t === 'store.batch') return { ok: await store.batch(request.operations.map(toOperation)) };
  const checkpoints = use.backends.checkpoints;
  if (checkpoints === undefined) throw new BackendError('invalid', 'this use has no checkpoints');
  switch (request.t) {
    case 'checkpoint.get': {
      const stored = await checkpoints.get(request.threadId, request.namespace, request.checkpointId ?? undefined);
      const { document, parts } = packStored(stored ? [stored] : []);
      return { ok: document, raw: parts };
    }
    case 'checkpoint.list': {
      const { document, parts } = packStored(await checkpoints.list(withoutNulls(request.query)));
      return { ok: document, raw: parts };
    }
    case 'checkpoint.put': {
      const committed = checkpoints.put(unpackPut(request.put, raw));
      use.trackPut?.(committed);
      await committed;
      return { ok: null };
    }
    case 'checkpoint.putWrites':
      await checkpoints.putWrites(unpackWrites(request.put, raw));
      return { ok: null };
    case 'checkpoint.channelHistories': {
      const { document, parts } = packHistories(await channelHistories(checkpoints, request.key, request.channels));
      return { ok: document, raw: parts };
    }
    case 'checkpoint.deleteThread':
      await checkpoints.deleteThread(request.threadId);
      return { ok: null };
  }
}

function toOperation(sent: ToParent['store.batch']['operations'][number]): StoreOperation {
  const operation = withoutNulls(sent) as StoreOperation;
  // A value that is null deletes the item.
  return sent.kind === 'put' ? ({ ...operation, value: sent.value } as StoreOperation) : operation;
}

type WithoutNulls<T> = T extends unknown ? { [K in keyof T]: Exclude<T[K], null> } : never;

/** Leaves out the fields that are null. */
function withoutNulls<T extends object>(fields: T): WithoutNulls<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as WithoutNulls<T>;
}

/** Implements `channelHistories` for a backend without it: reads ancestor by ancestor. */
async function channelHistories(
  checkpoints: CheckpointBackend,
  key: CheckpointKey,
  channels: string[],
): Promise<ChannelHistory[]> {
  if (checkpoints.channelHistories) return checkpoints.channelHistories(key, channels);
  const histories = channels.map((channel): ChannelHistory => ({ channel, writes: [] }));
  const open = new Set(histories);
  let { parentCheckpointId } = (await checkpoints.get(key.threadId, key.namespace, key.checkpointId)) ?? {};
  while (open.size > 0 && parentCheckpointId !== undefined) {
    const ancestor = await checkpoints.get(key.threadId, key.namespace, parentCheckpointId);
    if (!ancestor) break;
    for (const history of open) {
      history.writes.unshift(...ancestor.pendingWrites.filter(({ channel }) => channel === history.channel));
      const seed = ancestor.channelValues.find(({ channel }) => channel === history.channel)?.value;
      if (!seed) continue;
      history.seed = seed;
      open.delete(history);
    }
    parentCheckpointId = ancestor.parentCheckpointId;
  }
  return histories;
}

/** An error that no backend has named is a bug or bad input, which another attempt meets again. */
function unexpected(cause: unknown): BackendError {
  return new BackendError('storage_failed', (cause as Error)?.message ?? String(cause), { cause });
}
