import type { StorePutRequest } from '@runyard/contracts';
import { faultOfNamespace, isObject } from './store-search.ts';

/** An item as a form has it. */
export interface ItemDraft {
  /** Its labels with periods between them. */
  namespace: string;
  key: string;
  value: unknown;
  /** The minutes that it lives for; empty: as the project says. */
  ttl: string;
  embedding: 'project' | 'nothing' | 'paths';
  /** Paths of the value with commas between them. */
  paths: string;
}

export type ItemField = keyof ItemDraft;

export const EMPTY_ITEM: ItemDraft = { namespace: '', key: '', value: {}, ttl: '', embedding: 'project', paths: '' };

/** Returns what is wrong with an item, by field. */
export function faultsOfItem({ namespace, value, ttl, embedding, paths }: ItemDraft): Map<ItemField, string> {
  const faults = new Map<ItemField, string>();
  const namespaceFault = faultOfNamespace(namespace);
  if (namespaceFault) faults.set('namespace', namespaceFault);
  if (!isObject(value)) faults.set('value', 'A value is an object: { … }');
  if (ttl.trim() !== '' && !Number.isFinite(Number(ttl))) faults.set('ttl', 'Write a number of minutes');
  if (embedding === 'paths' && pathsOf(paths).length === 0) faults.set('paths', 'Which paths of the value?');
  return faults;
}

/** Returns the field that a sentence of the platform is about. */
export function fieldOfSentence(sentence: string): ItemField | undefined {
  if (/^(Namespace|namespace|Root label)/.test(sentence)) return 'namespace';
  if (/^index\b/.test(sentence)) return 'embedding';
  return /^(key|value|ttl)\b/.exec(sentence.toLowerCase())?.[1] as ItemField | undefined;
}

/** Returns the request that writes an item. */
export function putRequestOf({ namespace, key, value, ttl, embedding, paths }: ItemDraft): StorePutRequest {
  return {
    namespace: namespace.split('.'),
    key,
    value: value as Record<string, unknown>,
    ...(ttl.trim() !== '' && { ttl: Number(ttl) }),
    ...(embedding === 'nothing' && { index: false as const }),
    ...(embedding === 'paths' && { index: pathsOf(paths) }),
  };
}

/** Returns the paths between commas. A path `{title,summary}` has commas of its own. */
function pathsOf(text: string): string[] {
  const paths = [''];
  let isInBraces = false;
  for (const character of text) {
    if (character === ',' && !isInBraces) {
      paths.push('');
      continue;
    }
    if (character === '{') isInBraces = true;
    if (character === '}') isInBraces = false;
    paths[paths.length - 1] += character;
  }
  return paths.map((path) => path.trim()).filter((path) => path !== '');
}
