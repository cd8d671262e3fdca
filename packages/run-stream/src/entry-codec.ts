import type { DataCipher } from '@runyard/encryption';
import { decryptContent, encryptContent } from './entry-encryption.ts';
import { hasSeparator, RECORD, UNIT } from './entry-separators.ts';
import { nextId } from './event-id.ts';
import type { RangePage } from './range-page.ts';
import type { AppendEvent, StreamEntry } from './types.ts';

/** The last character of a resumable run's attempt. */
const RESUMABLE = 'r';

/** One append in the form for live readers. */
export interface LiveBatch {
  /** The id before the first of these in the stream: a reader that does not have it has missed something. */
  predecessor: string;
  lastId: string;
  /** Empty when they must be read from the stream: they are too large for every reader, or wait for a key. */
  entries: StreamEntry[];
  /** Approximate size in memory. */
  bytes: number;
}

/**
 * Writes and reads entries. An entry is stored and published as the same text: run, attempt, kind, event and data
 * between unit separators, and the entries of one publication between record separators. With a key, kind, event and
 * data are encrypted.
 */
export class EntryCodec {
  readonly #cipher: DataCipher;

  constructor(cipher: DataCipher) {
    this.#cipher = cipher;
  }

  encode({ runId, attempt, kind, event, data }: AppendEvent, isResumable: boolean): string {
    if (hasSeparator(data)) throw new TypeError('The data of an event is not JSON text.');
    // Event names contain node names, which may have any characters.
    const name = hasSeparator(event) ? event.replaceAll(UNIT, '').replaceAll(RECORD, '') : event;
    const content = { kind, event: name, data };
    const stored = this.#cipher.isEncrypting ? encryptContent(content, this.#cipher) : content;
    const flag = isResumable ? RESUMABLE : '';
    return [runId, `${attempt}${flag}`, stored.kind, stored.event, stored.data].join(UNIT);
  }

  /** Loads the keys of stored entries; undefined when there are none to load. */
  prepare(entries: RangePage['entries']): Promise<void> | undefined {
    return this.#cipher.loadKeys(entries);
  }

  /** An entry that cannot be decrypted here is decoded as the gap `lost`. */
  decode(id: string, text: string): StreamEntry {
    const runEnd = text.indexOf(UNIT);
    const attemptEnd = text.indexOf(UNIT, runEnd + 1);
    const kindEnd = text.indexOf(UNIT, attemptEnd + 1);
    const eventEnd = text.indexOf(UNIT, kindEnd + 1);
    const stored = {
      kind: text.slice(attemptEnd + 1, kindEnd),
      event: text.slice(kindEnd + 1, eventEnd),
      data: text.slice(eventEnd + 1),
    };
    return {
      id,
      runId: text.slice(0, runEnd),
      attempt: Number.parseInt(text.slice(runEnd + 1, attemptEnd), 10),
      isResumable: text.charAt(attemptEnd - 1) === RESUMABLE,
      ...decryptContent(stored, this.#cipher),
    };
  }

  /**
   * Decodes a message of the append script: `predecessor UNIT first id`, then the entries, each after a record
   * separator; large entries are replaced by `predecessor UNIT first id UNIT last id` alone. A batch whose keys are not
   * loaded yet has no entries either.
   */
  decodeBatch(message: string): LiveBatch {
    const [header, ...texts] = message.split(RECORD);
    const [predecessor = '', firstId = '', lastId] = header!.split(UNIT);
    if (lastId !== undefined) return { predecessor, lastId, entries: [], bytes: 200 };
    let id = firstId;
    const loading = this.#cipher.loadKeys(message);
    if (loading) {
      // Whoever reads the entries from the stream waits for the same, and gets its error.
      loading.catch(() => undefined);
      for (let more = texts.length - 1; more > 0; more -= 1) id = nextId(id);
      return { predecessor, lastId: id, entries: [], bytes: 200 };
    }
    const entries = texts.map((text, index) => {
      if (index > 0) id = nextId(id);
      return this.decode(id, text);
    });
    return { predecessor, lastId: id, entries, bytes: message.length * 2 + entries.length * 200 };
  }
}
