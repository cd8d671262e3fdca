import { EncryptionError } from '../cipher.ts';
import type { JsonPlace } from '../json-places.ts';
import { KeyUnavailableError } from '../key-unavailable-error.ts';
import type { DataKeys } from './data-keys.ts';
import { findMarks, type HandledValue, keyIdOfMark, readMark } from './json-marks.ts';
import { messagesOf, recentFailures, requireSameKeys, type SizedJson, toPlaced } from './json-messages.ts';
import { RecentTexts } from './recent-texts.ts';
import type { DataKey, JsonHandlers } from './types.ts';

export interface StoredValuesOptions {
  keys: Pick<DataKeys, 'get'>;
  /** Is called with what handlers failed with. */
  onFailure(error: unknown): void;
}

/** Messages about one result that are answered at a time. */
const AT_ONCE = 16;
/** Milliseconds for all values of one result: its transaction may hold locks. */
const LOAD_MS = 10_000;
/** Characters of values that are kept decrypted. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** An object for `decrypt.json`: values of one row, with the texts as which they are stored. */
interface StoredObject extends SizedJson {
  key: DataKey;
  texts: Map<string, string>;
}

/** Has handlers of the project decrypt what is in rows that were read, and keeps it for those who read the rows. */
export class StoredValues {
  readonly #options: StoredValuesOptions;
  #handlers: JsonHandlers | undefined;
  /** Decrypted values as JSON text, by the text as which they are stored. */
  readonly #plain = new RecentTexts(KEPT_CHARACTERS);
  /** Stored texts, and ids of data keys, at which handlers failed lately. */
  readonly #failed = recentFailures();
  readonly #loading = new Map<string, Promise<void>>();

  constructor(options: StoredValuesOptions) {
    this.#options = options;
  }

  /** Asks these handlers from now on. */
  use(handlers: JsonHandlers | undefined): void {
    this.#handlers = handlers;
  }

  /** Remembers a value: whoever has written a row often reads it at once, in the same transaction. */
  keep(text: string, value: unknown): void {
    this.#plain.set(text, JSON.stringify(value));
  }

  /**
   * Has all values in these rows decrypted whose data keys are loaded; undefined when there is nothing to wait for. One
   * that the handlers do not decrypt says so when it is decrypted.
   */
  load(rows: unknown): Promise<void> | undefined {
    if (!this.#handlers) return undefined;
    const waits = new Set<Promise<void>>();
    const seen = new Set<string>();
    const objects: StoredObject[] = [];
    for (const row of Array.isArray(rows) ? rows : [rows]) {
      const unseen = [...findMarks(row)].filter((text) => !seen.has(text));
      for (const text of unseen) seen.add(text);
      objects.push(...this.#missingOf(unseen, waits));
    }
    if (objects.length > 0) {
      const texts = objects.flatMap((object) => [...object.texts.values()]);
      const loading = this.#load(objects, this.#handlers).finally(() => {
        for (const text of texts) this.#loading.delete(text);
      });
      for (const text of texts) this.#loading.set(text, loading);
      waits.add(loading);
    }
    return waits.size === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }

  /**
   * Returns the value that is stored as this text.
   *
   * @throws KeyUnavailableError when it is not loaded, EncryptionError when handlers refused it alone or it was changed
   */
  decrypt(text: string): unknown {
    const keyId = keyIdOfMark(text) ?? '';
    if (!this.#handlers) {
      const message = 'Data is encrypted by encrypt.json, and "encryption.path" has no decrypt.json any more.';
      throw new KeyUnavailableError(keyId, message);
    }
    const key = this.#keyOf(text);
    const plain = key && this.#plain.get(text);
    if (plain !== undefined) return JSON.parse(plain);
    const isFaulty = key && (this.#failed.isFresh(text) || read(key, text) === undefined);
    const message = 'Data is encrypted in a way that "encryption.path" does not decrypt.';
    throw isFaulty ? new EncryptionError(message) : new KeyUnavailableError(keyId, message);
  }

  /** Returns what is to be decrypted of a row, and adds what others are having decrypted. */
  #missingOf(texts: string[], waits: Set<Promise<void>>): StoredObject[] {
    const objects: StoredObject[] = [];
    for (const text of texts) {
      const loading = this.#loading.get(text);
      if (loading) waits.add(loading);
      else if (this.#plain.get(text) === undefined && !this.#failed.isFresh(text)) this.#addTo(objects, text);
    }
    return objects;
  }

  #addTo(objects: StoredObject[], text: string): void {
    const key = this.#keyOf(text);
    const handled = key && !this.#failed.isFresh(key.id) ? read(key, text) : undefined;
    if (!key || !handled) return;
    const { place, name, value } = handled;
    const isRoom = (object: StoredObject) =>
      object.key === key && isSame(object.place, place) && !object.texts.has(name);
    let object = objects.find(isRoom);
    if (!object) {
      // Without a prototype, "__proto__" is a key like any other.
      object = { key, place, data: Object.create(null), characters: 0, texts: new Map() };
      objects.push(object);
    }
    object.data[name] = value;
    object.characters += text.length;
    object.texts.set(name, text);
  }

  #keyOf(text: string): DataKey | undefined {
    const id = keyIdOfMark(text);
    return id === undefined ? undefined : this.#options.keys.get(id);
  }

  /** Never rejects: what was not decrypted is asked for again later. */
  async #load(objects: StoredObject[], handlers: JsonHandlers): Promise<void> {
    const giveUpAt = performance.now() + LOAD_MS;
    const messages = [...new Set(objects.map(({ key }) => key))].flatMap((key) =>
      messagesOf(objects.filter((object) => object.key === key)).map((message) => ({ key, message })),
    );
    const loadSome = async () => {
      for (let next = messages.pop(); next && performance.now() < giveUpAt; next = messages.pop()) {
        const { key, message } = next;
        await this.#loadMessage(key, message, handlers).catch((error: unknown) => {
          this.#failed.set(key.id, true);
          this.#options.onFailure(error);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, loadSome));
  }

  async #loadMessage(key: DataKey, objects: StoredObject[], handlers: JsonHandlers): Promise<void> {
    if (this.#failed.isFresh(key.id)) return;
    const answers = await handlers.decrypt(key.metadata, objects.map(toPlaced));
    for (const [index, object] of objects.entries()) {
      const answer = requireSameKeys(answers[index], object, 'decrypt.json');
      if (answer instanceof Error) this.#options.onFailure(answer);
      for (const [name, text] of object.texts) {
        if (answer instanceof Error) this.#failed.set(text, true);
        else this.#plain.set(text, JSON.stringify(answer[name]));
      }
    }
  }
}

function read(key: DataKey, text: string): HandledValue | undefined {
  try {
    return readMark(key, text);
  } catch {
    return undefined;
  }
}

function isSame(a: JsonPlace, b: JsonPlace): boolean {
  return a.model === b.model && a.field === b.field;
}
