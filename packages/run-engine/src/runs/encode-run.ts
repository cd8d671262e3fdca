import { isDeepStrictEqual } from 'node:util';
import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import { v7 as uuidv7 } from 'uuid';
import { encodePushConfig, type StoredPushConfig } from '../tasks/stored-push-config.ts';
import type { AcceptedRun } from './types.ts';

/** A run to be created, with its final thread id. */
export interface EncodedRun extends AcceptedRun {
  threadId: string;
  /** True when the caller named no thread: the id is new. */
  isStateless: boolean;
  /** The JSON text of `kwargs`, as it is stored. */
  storedKwargs: Buffer;
  /** The metadata of the run, and of the thread if the run creates it, as they are stored. */
  storedMetadata: Record<string, unknown>;
  storedThreadMetadata: Record<string, unknown>;
  /** The push configurations of its task, as they are stored. */
  storedPushConfigs: StoredPushConfig[];
  /** Bytes, for the limit of a batch. */
  size: number;
}

/**
 * @param ahead the same run as it was encoded earlier: metadata that is still the same is not encrypted again
 * @throws when the arguments have no JSON form, EncryptionUnavailableError
 */
export async function encodeRun(run: AcceptedRun, cipher: DataCipher, ahead?: EncodedRun): Promise<EncodedRun> {
  const storedKwargs = cipher.encrypt(Buffer.from(JSON.stringify(run.kwargs)));
  const threadId = run.threadId ?? run.statelessThreadId ?? uuidv7();
  const isEncrypted = ahead !== undefined && isDeepStrictEqual(metadataOf(ahead), metadataOf(run));
  const { storedMetadata, storedThreadMetadata } = isEncrypted ? ahead : await encryptMetadata(run, cipher);
  return {
    ...run,
    isStateless: run.threadId === undefined,
    keepsThread: run.threadId !== undefined || run.keepsThread,
    threadId,
    storedKwargs,
    storedMetadata,
    storedThreadMetadata,
    storedPushConfigs: (run.task?.pushConfigs ?? []).map((config) => encodePushConfig({ ...config, threadId }, cipher)),
    size: storedKwargs.byteLength,
  };
}

function metadataOf({ metadata, threadMetadata, graphId, assistantId }: AcceptedRun) {
  return { ofRun: metadata, ofThread: { ...threadMetadata, graph_id: graphId, assistant_id: assistantId } };
}

async function encryptMetadata(
  run: AcceptedRun,
  { json }: DataCipher,
): Promise<Pick<EncodedRun, 'storedMetadata' | 'storedThreadMetadata'>> {
  const { ofRun, ofThread } = metadataOf(run);
  const [storedMetadata, storedThreadMetadata] = await Promise.all([
    json.encrypt(ofRun, JSON_PLACES.runMetadata),
    json.encrypt(ofThread, JSON_PLACES.threadMetadata),
  ]);
  return { storedMetadata, storedThreadMetadata };
}
