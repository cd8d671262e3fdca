/** The part of a store that is open, as the address of the page has it. A list in an address is JSON: its labels may be any text. */
export interface StoreSearch {
  /** The labels from the root to the open namespace; missing: the root, and with it all items. */
  namespace?: string[];
  /** The key of the open item. The empty text is a key too. */
  key?: string;
  /** Words that the items are near to in meaning. */
  query?: string;
  /** Fields of the values, as searches of the API have them. */
  filter?: Record<string, unknown>;
}

/** Reads the address of the page. What is none is left out. */
export function readStoreSearch({ namespace, key, query, filter }: Record<string, unknown>): StoreSearch {
  const labels = isNamespace(namespace) && namespace.length > 0 ? namespace : undefined;
  const words = textOf(query)?.trim();
  return {
    ...(labels && { namespace: labels }),
    ...(labels && textOf(key) !== undefined && { key: textOf(key)! }),
    ...(words && { query: words }),
    ...(isObject(filter) && Object.keys(filter).length > 0 && { filter }),
  };
}

/** Returns what is wrong with a namespace in words: its labels with periods between them. */
export function faultOfNamespace(text: string): string | undefined {
  if (text === '') return 'An item needs a namespace';
  return text.split('.').includes('') ? 'No label may be empty: periods stand between labels only' : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamespace(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((label) => typeof label === 'string' && label !== '');
}

/** Values of an address are read as JSON where they can be: a key `404` that somebody wrote by hand comes as a number. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : undefined;
}
