import { isPlatformMetadata } from '../chosen-keys.ts';
import { EncryptionError } from '../cipher.ts';
import type { JsonPlace } from '../json-places.ts';
import { canonicalJson } from './canonical-json.ts';
import type { DataKeys } from './data-keys.ts';
import { examplesOf } from './filter-examples.ts';
import { FreshMap } from './fresh-map.ts';
import { isObject } from './is-object.ts';
import { findMarks, type HandledValue, keyIdOfMark, markValue, readMark } from './json-marks.ts';
import { RecentTexts } from './recent-texts.ts';
import {
  type DataKey,
  EncryptionUnavailableError,
  type JsonAnswer,
  type JsonHandlers,
  JsonTooDeepError,
  type PlacedJson,
} from './types.ts';

export interface ProjectJsonOptions {
  keys: Pick<DataKeys, 'get'>;
  /** Returns the data key of the work at hand. */
  currentKey(): DataKey;
  /** Is called with what handlers failed with. */
  onFailure(error: unknown): void;
}

/** Objects, and characters of their JSON, in one message to the handlers. One object may be larger. */
const MESSAGE_OBJECTS = 100;
const MESSAGE_CHARACTERS = 1024 * 1024;
/** Characters of all objects inside of one for which handlers are asked. */
const INNER_CHARACTERS_MAX = 64 * 1024 * 1024;
/** Messages about one result that are answered at a time. */
const AT_ONCE = 16;
/** Milliseconds for all values of one result: its transaction may hold locks. */
const LOAD_MS = 10_000;
/** Milliseconds for which handlers are not asked again about what they failed at. */
const FAILED_MS = 5_000;
/** Milliseconds for which handlers count as ones that decrypt what they encrypt. */
const VERIFIED_MS = 3_600_000;
const NAMES_MAX = 10_000;
/** Characters of values that are kept decrypted. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** Stands for a value that handlers have encrypted: the text to store, which nobody has to look into. */
export class StoredText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object before and after handlers have seen it, and the keys whose values they changed. */
interface HandledObject {
  data: Record<string, unknown>;
  made: Record<string, unknown>;
  names: string[];
}

/** An object, and the length of its JSON text. */
interface SizedJson extends PlacedJson {
  characters: number;
}

/** An object for `decrypt.json`: values of one row, with the texts as which they are stored. */
interface StoredObject extends SizedJson {
  key: DataKey;
  texts: Map<string, string>;
}

/**
 * Has handlers of the project encrypt and decrypt values inside JSON that is otherwise stored readable. They are asked
 * before something is written, and after rows were read; who reads a row finds its values decrypted.
 */
export class ProjectJson {
  readonly #options: ProjectJsonOptions;
  #handlers: JsonHandlers | undefined;
  /** Decrypted values as JSON text, by the text as which they are stored. */
  readonly #plain = new RecentTexts(KEPT_CHARACTERS);
  /** Stored texts at which handlers failed lately, and actions with the ids of data keys. */
  readonly #failed = new FreshMap<true>(NAMES_MAX, FAILED_MS);
  /** Ids of data keys in whose context handlers have decrypted what they had encrypted. */
  readonly #verified = new FreshMap<true>(NAMES_MAX, VERIFIED_MS);
  readonly #verifying = new Map<string, Promise<void>>();
  readonly #loading = new Map<string, Promise<void>>();
  /** Requests of this turn, by the id of the data key. */
  readonly #turns = new Map<string, { objects: SizedJson[]; answers: Promise<JsonAnswer[]> }>();

  constructor(options: ProjectJsonOptions) {
    this.#options = options;
  }

  /** Asks these handlers from now on. */
  use(handlers: JsonHandlers | undefined): void {
    this.#handlers = handlers;
  }

  get hasHandlers(): boolean {
    return this.#handlers !== undefined;
  }

  /**
   * Returns the JSON with a `StoredText` for each value that the project encrypts; undefined when there is nothing to
   * ask for. @throws EncryptionUnavailableError
   */
  encrypt<T>(json: T, place: JsonPlace): Promise<T> | undefined {
    return this.#offerRoot(json, place) && this.#encrypt(json, place);
  }

  /** Returns a key whose value the project would encrypt. @throws EncryptionUnavailableError */
  findEncryptedKey(filter: unknown, place: JsonPlace): Promise<string | undefined> | undefined {
    const examples = examplesOf(filter).filter((example) => this.#offerRoot(example, place));
    if (examples.length === 0) return undefined;
    const key = this.#options.currentKey();
    return Promise.all(examples.map((example) => this.#handle(example, place, key))).then((handled) =>
      handled.flatMap((ofExample) => [...ofExample.values()].flatMap(({ names }) => names)).at(0),
    );
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

  /** Returns the value that is stored as this text. @throws EncryptionError when it is not loaded */
  decrypt(text: string): unknown {
    if (!this.#handlers) {
      throw new EncryptionError(
        'Data is encrypted by encrypt.json, and "encryption.path" has no decrypt.json any more.',
      );
    }
    const plain = this.#keyOf(text) && this.#plain.get(text);
    if (plain === undefined)
      throw new EncryptionError('Data is encrypted in a way that "encryption.path" does not decrypt.');
    return JSON.parse(plain);
  }

  /** Returns what handlers may change of the outermost object; undefined when that is nothing. */
  #offerRoot(json: unknown, { field }: JsonPlace): Record<string, unknown> | undefined {
    if (!this.#handlers || !isObject(json)) return undefined;
    const isOffered = ([key, value]: [string, unknown]) =>
      value !== undefined && !(field === 'metadata' && isPlatformMetadata(key));
    const offered = Object.entries(json).filter(isOffered);
    return offered.length === 0 ? undefined : Object.fromEntries(offered);
  }

  async #encrypt<T>(json: T, place: JsonPlace): Promise<T> {
    const key = this.#options.currentKey();
    const handled = await this.#handle(json, place, key);
    const example = [...handled.values()].find(({ names }) => names.length > 0);
    if (!example) return json;
    const { data, made, names } = example;
    await this.#verify(key, { place, data: pick(made, names) }, pick(data, names));
    return this.#toStored(json, { handled, place, key }) as T;
  }

  /**
   * Has handlers decide about an object, and then about all objects inside of what they left, so that two messages are
   * enough however deep they are. @throws EncryptionUnavailableError, JsonTooDeepError
   */
  async #handle(json: unknown, place: JsonPlace, key: DataKey): Promise<Map<unknown, HandledObject>> {
    const handled = new Map<unknown, HandledObject>();
    const handle = async (object: unknown, offer: SizedJson) => {
      const made = await this.#ask(key, offer);
      handled.set(object, { data: offer.data, made, names: changedKeys(offer.data, made) });
    };
    const root = this.#offerRoot(json, place) ?? {};
    await handle(json, sizedOf(place, root));
    const left = Object.entries(root).filter(([name]) => !handled.get(json)!.names.includes(name));
    const inner = objectsIn(left.map(([, value]) => value)).filter((object) => Object.keys(object).length > 0);
    let characters = 0;
    const offers = inner.map((object) => {
      const offer = sizedOf(place, withoutUndefined(object));
      // Each object has all inside of it in its text: with the depth of JSON, that becomes many times its size.
      characters += offer.characters;
      if (characters > INNER_CHARACTERS_MAX) throw new JsonTooDeepError();
      return { object, offer };
    });
    await Promise.all(offers.map(({ object, offer }) => handle(object, offer)));
    return handled;
  }

  /** Returns the same object when nothing in it was changed. */
  #toStored(value: unknown, all: { handled: Map<unknown, HandledObject>; place: JsonPlace; key: DataKey }): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const { handled, place, key } = all;
    const made = handled.get(value);
    const stored = Object.entries(value).map(([name, each]): [string, unknown] => {
      if (!made?.names.includes(name)) return [name, this.#toStored(each, all)];
      const text = markValue(key, { place, name, value: made.made[name] });
      // Whoever has written a row often reads it at once, in the same transaction.
      this.#plain.set(text, JSON.stringify(each));
      return [name, new StoredText(text)];
    });
    if (stored.every(([name, each]) => each === (value as Record<string, unknown>)[name])) return value;
    return Array.isArray(value) ? stored.map(([, each]) => each) : Object.fromEntries(stored);
  }

  /** Asks for everything of one turn together. @throws EncryptionUnavailableError */
  async #ask(key: DataKey, object: SizedJson): Promise<Record<string, unknown>> {
    let turn = this.#turns.get(key.id);
    if (!turn) {
      const objects: SizedJson[] = [];
      const answers = Promise.resolve().then(() => {
        this.#turns.delete(key.id);
        return this.#askForTurn(key, objects);
      });
      turn = { objects, answers };
      this.#turns.set(key.id, turn);
    }
    const position = turn.objects.push(object) - 1;
    const answer = (await turn.answers)[position]!;
    if (answer instanceof Error) throw this.#refuse(answer);
    return answer;
  }

  async #askForTurn(key: DataKey, objects: SizedJson[]): Promise<JsonAnswer[]> {
    if (this.#failed.isFresh(failureOf('encrypt', key)))
      throw new EncryptionUnavailableError('handlers failed a moment ago');
    try {
      const encrypt = (message: SizedJson[]) => this.#handlers!.encrypt(key.metadata, message.map(toPlaced));
      const answers = await Promise.all(messagesOf(objects).map(encrypt));
      return answers.flat().map((answer, index) => requireSameKeys(answer, objects[index]!, 'encrypt.json'));
    } catch (cause) {
      // Handlers are not to blame for data that is nested too deeply to be sent.
      if (!(cause instanceof RangeError)) this.#failed.set(failureOf('encrypt', key), true);
      throw this.#refuse(cause);
    }
  }

  /** Has the first values of a context decrypted again before they are stored. @throws EncryptionUnavailableError */
  #verify(key: DataKey, made: PlacedJson, data: Record<string, unknown>): Promise<void> | undefined {
    if (this.#verified.isFresh(key.id)) return undefined;
    let verifying = this.#verifying.get(key.id);
    if (!verifying) {
      verifying = this.#tryDecrypt(key, made, data).finally(() => this.#verifying.delete(key.id));
      this.#verifying.set(key.id, verifying);
    }
    return verifying;
  }

  async #tryDecrypt(key: DataKey, made: PlacedJson, data: Record<string, unknown>): Promise<void> {
    const [answer] = await this.#handlers!.decrypt(key.metadata, [made]).catch((cause: unknown) => {
      this.#failed.set(failureOf('encrypt', key), true);
      throw this.#refuse(cause);
    });
    if (answer instanceof Error) throw this.#refuse(answer);
    if (canonicalJson(answer) !== canonicalJson(data)) {
      throw this.#refuse(new Error('decrypt.json did not return what encrypt.json had got'));
    }
    this.#verified.set(key.id, true);
  }

  #refuse(cause: unknown): EncryptionUnavailableError {
    this.#options.onFailure(cause);
    return new EncryptionUnavailableError(cause);
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
    const handled = key && !this.#failed.isFresh(failureOf('decrypt', key)) ? read(key, text) : undefined;
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
          this.#failed.set(failureOf('decrypt', key), true);
          this.#options.onFailure(error);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, loadSome));
  }

  async #loadMessage(key: DataKey, objects: StoredObject[], handlers: JsonHandlers): Promise<void> {
    if (this.#failed.isFresh(failureOf('decrypt', key))) return;
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

/** Names a failure of handlers in the context of a key: those that encrypt may fail while others decrypt. */
function failureOf(action: 'encrypt' | 'decrypt', { id }: DataKey): string {
  return `${action} ${id}`;
}

function read(key: DataKey, text: string): HandledValue | undefined {
  try {
    return readMark(key, text);
  } catch {
    return undefined;
  }
}

/** SQL merges and filters JSON by its keys, so handlers change values alone. */
function requireSameKeys(answer: JsonAnswer | undefined, { data }: PlacedJson, handler: string): JsonAnswer {
  if (answer === undefined) return new Error(`${handler} has no answer`);
  if (answer instanceof Error) return answer;
  const isSameKeys = Object.keys(answer).length === Object.keys(data).length && isSubset(Object.keys(data), answer);
  return isSameKeys ? answer : new Error(`${handler} added or dropped keys`);
}

/** Returns all objects in a value, at every depth. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function isSubset(keys: string[], object: object): boolean {
  return keys.every((key) => Object.hasOwn(object, key));
}

function changedKeys(data: Record<string, unknown>, made: Record<string, unknown>): string[] {
  return Object.keys(data).filter((key) => canonicalJson(data[key]) !== canonicalJson(made[key]));
}

function pick(data: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, data[key]]));
}

function isSame(a: JsonPlace, b: JsonPlace): boolean {
  return a.model === b.model && a.field === b.field;
}

/** Divides objects among messages, each of which is answered in time or fails. */
function messagesOf<T extends SizedJson>(objects: T[]): T[][] {
  const messages: T[][] = [];
  let total = 0;
  for (const object of objects) {
    const last = messages.at(-1);
    total += object.characters;
    if (last && last.length < MESSAGE_OBJECTS && total <= MESSAGE_CHARACTERS) last.push(object);
    else {
      messages.push([object]);
      total = object.characters;
    }
  }
  return messages;
}

/** @throws JsonTooDeepError */
function sizedOf(place: JsonPlace, data: Record<string, unknown>): SizedJson {
  try {
    return { place, data, characters: JSON.stringify(data).length };
  } catch (error) {
    throw error instanceof RangeError ? new JsonTooDeepError() : error;
  }
}

function toPlaced({ place, data }: SizedJson): PlacedJson {
  return { place, data };
}
