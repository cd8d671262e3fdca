import { isPlatformMetadata } from '../chosen-keys.ts';
import type { JsonPlace } from '../json-places.ts';
import { canonicalJson } from './canonical-json.ts';
import { examplesOf } from './filter-examples.ts';
import { FreshMap } from './fresh-map.ts';
import { isObject } from './is-object.ts';
import { markValue } from './json-marks.ts';
import {
  messagesOf,
  NAMES_MAX,
  recentFailures,
  requireSameKeys,
  type SizedJson,
  sizedOf,
  toPlaced,
} from './json-messages.ts';
import { StoredValues, type StoredValuesOptions } from './stored-values.ts';
import {
  type DataKey,
  EncryptionUnavailableError,
  type JsonAnswer,
  type JsonHandlers,
  JsonTooDeepError,
  type PlacedJson,
} from './types.ts';

export interface ProjectJsonOptions extends StoredValuesOptions {
  /** Returns the data key of the work at hand. */
  currentKey(): DataKey;
}

/** Characters of all objects inside of one for which handlers are asked. */
const INNER_CHARACTERS_MAX = 64 * 1024 * 1024;
/** Milliseconds for which handlers count as ones that decrypt what they encrypt. */
const VERIFIED_MS = 3_600_000;

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

/**
 * Has handlers of the project encrypt and decrypt values inside JSON that is otherwise stored readable. They are asked
 * before something is written, and after rows were read; who reads a row finds its values decrypted.
 */
export class ProjectJson {
  readonly #options: ProjectJsonOptions;
  readonly #stored: StoredValues;
  #handlers: JsonHandlers | undefined;
  /** Ids of data keys in whose context handlers failed lately. */
  readonly #failed = recentFailures();
  /** Ids of data keys in whose context handlers have decrypted what they had encrypted. */
  readonly #verified = new FreshMap<true>(NAMES_MAX, VERIFIED_MS);
  readonly #verifying = new Map<string, Promise<void>>();
  /** Requests of this turn, by the id of the data key. */
  readonly #turns = new Map<string, { objects: SizedJson[]; answers: Promise<JsonAnswer[]> }>();

  constructor(options: ProjectJsonOptions) {
    this.#options = options;
    this.#stored = new StoredValues(options);
  }

  /** Asks these handlers from now on. */
  use(handlers: JsonHandlers | undefined): void {
    this.#handlers = handlers;
    this.#stored.use(handlers);
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

  /** Has the values in these rows decrypted: see `StoredValues`. */
  load(rows: unknown): Promise<void> | undefined {
    return this.#stored.load(rows);
  }

  /** Returns the value that is stored as this text. @throws EncryptionError when it is not loaded */
  decrypt(text: string): unknown {
    return this.#stored.decrypt(text);
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
      this.#stored.keep(text, each);
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
    if (this.#failed.isFresh(key.id)) throw new EncryptionUnavailableError('handlers failed a moment ago');
    try {
      const encrypt = (message: SizedJson[]) => this.#handlers!.encrypt(key.metadata, message.map(toPlaced));
      const answers = await Promise.all(messagesOf(objects).map(encrypt));
      return answers.flat().map((answer, index) => requireSameKeys(answer, objects[index]!, 'encrypt.json'));
    } catch (cause) {
      // Handlers are not to blame for data that is nested too deeply to be sent.
      if (!(cause instanceof RangeError)) this.#failed.set(key.id, true);
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
      this.#failed.set(key.id, true);
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
}

/** Returns all objects in a value, at every depth. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function changedKeys(data: Record<string, unknown>, made: Record<string, unknown>): string[] {
  return Object.keys(data).filter((key) => canonicalJson(data[key]) !== canonicalJson(made[key]));
}

function pick(data: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, data[key]]));
}
