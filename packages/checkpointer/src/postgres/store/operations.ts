import { JSON_PLACES, type JsonKeyCipher } from '@runyard/encryption';
import { BackendError, type StoreOperation } from '../../backend.ts';
import { parseTextPath } from '../../store/text-paths.ts';

export type OperationOf<Kind extends StoreOperation['kind']> = Extract<StoreOperation, { kind: Kind }>;

export function isKind<Kind extends StoreOperation['kind']>(kind: Kind) {
  return (operation: StoreOperation): operation is OperationOf<Kind> => operation.kind === kind;
}

/** Namespace and key are an entry of an index, whose entries have limited size. */
const ADDRESS_BYTES_MAX = 2_048;
/** Bytes of each label in addition to its text. */
const LABEL_BYTES = 8;
/** Minutes of a hundred years; a timestamp cannot hold much longer times. */
const TTL_MINUTES_MAX = 52_560_000;

/** The ttl of an item that never expires. */
export const NEVER_EXPIRES = -1;

/** Checks what clients and graphs may get wrong. @throws BackendError `invalid`, EncryptionUnavailableError */
export async function checkOperation(operation: StoreOperation, json: JsonKeyCipher): Promise<void> {
  switch (operation.kind) {
    case 'put':
      return checkPut(operation);
    case 'get':
      return checkTexts([...listOf('namespace', operation.namespace), operation.key], 'namespace and key');
    case 'search':
      checkTexts(listOf('namespace prefix', operation.namespacePrefix), 'namespace prefix');
      if (!isObjectOrMissing(operation.filter)) refuse('filter must be an object');
      if (typeof (operation.query ?? '') !== 'string') refuse('query must be a text');
      return checkFilter(operation, json);
    case 'listNamespaces':
      checkTexts(listOf('prefix', operation.prefix ?? []), 'prefix');
      checkTexts(listOf('suffix', operation.suffix ?? []), 'suffix');
  }
}

/** Graphs may send anything, and JSON makes null of undefined. */
function listOf(name: string, texts: unknown): unknown[] {
  return Array.isArray(texts) ? texts : refuse(`${name} must be a list of texts`);
}

function checkTexts(texts: unknown[], names: string): void {
  const wrong = texts.find((text) => typeof text !== 'string');
  if (wrong !== undefined) refuse(`${names} must be texts, not ${wrong === null ? 'null or undefined' : typeof wrong}`);
}

function isObjectOrMissing(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value));
}

async function checkFilter({ filter }: OperationOf<'search'>, json: JsonKeyCipher): Promise<void> {
  const key = await json.findEncryptedKey(filter, JSON_PLACES.storeValue);
  if (key !== undefined) refuse(`filter: "${key}" is encrypted at rest and cannot be searched by`);
}

function checkPut({ namespace, key, value, index, ttlMinutes }: OperationOf<'put'>): void {
  listOf('namespace', namespace);
  if (value !== null) checkNamespace(namespace);
  const texts = [...namespace, key];
  checkTexts(texts, 'namespace and key');
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + LABEL_BYTES, 0);
  if (bytes > ADDRESS_BYTES_MAX) refuse(`namespace and key take more than ${ADDRESS_BYTES_MAX} bytes together`);
  if (typeof value !== 'object' || Array.isArray(value)) refuse('value must be an object');
  const hasTtl = ttlMinutes !== undefined && ttlMinutes !== NEVER_EXPIRES;
  if (hasTtl && !(ttlMinutes > 0 && ttlMinutes <= TTL_MINUTES_MAX)) {
    refuse(`ttl must be more than 0 and at most ${TTL_MINUTES_MAX} minutes, or -1 for never`);
  }
  if (Array.isArray(index)) for (const path of index) checkPath(path);
  else if (index !== undefined && index !== false && index !== null) refuse('index must be false or a list of paths');
}

/** LangGraph checks single puts itself, but not those that it batches. */
function checkNamespace(namespace: string[]): void {
  if (namespace.length === 0) refuse('Namespace cannot be empty.');
  const wrong = namespace.find((label) => typeof label !== 'string' || label === '' || label.includes('.'));
  if (wrong !== undefined) refuse(`Namespace label '${wrong}' must be a non-empty string without periods`);
}

function checkPath(path: string): void {
  try {
    parseTextPath(path);
  } catch (error) {
    refuse(`index: ${(error as Error).message}`);
  }
}

function refuse(message: string): never {
  throw new BackendError('invalid', message);
}
