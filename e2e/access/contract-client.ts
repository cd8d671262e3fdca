import { OPEN_API_INFO, type Operation, publicOperations } from '@runyard/contracts';
import { NEEDS, type Need } from './permissions.ts';
import { buildRequest, type Ids } from './requests.ts';

type Service = keyof typeof OPEN_API_INFO;

export interface AccessRow {
  service: Service;
  operation: Operation;
  need: Need;
}

export interface ContractAnswer {
  status: number;
  contentType: string;
  /** The text of the answer; empty for streams, which are left when they begin. */
  text: string;
}

const SERVICES = Object.keys(OPEN_API_INFO) as Service[];
/** Requests at once: enough to keep two cores busy, and within what the gateway lets wait for one deployment. */
const CONCURRENCY = 12;

/** Returns operations of the contracts without a row, and rows without an operation. */
export function unmatchedRows(): string[] {
  return SERVICES.flatMap((service) => {
    const ids = publicOperations(service).map(({ operationId }) => operationId);
    const rows = Object.keys(NEEDS[service]);
    return [
      ...ids.filter((id) => !rows.includes(id)).map((id) => `${service}: ${id} has no row`),
      ...rows.filter((id) => !ids.includes(id)).map((id) => `${service}: there is no operation ${id}`),
    ];
  });
}

export const ACCESS_ROWS: AccessRow[] = SERVICES.flatMap((service) =>
  publicOperations(service).flatMap((operation) => {
    const need = NEEDS[service][operation.operationId];
    return need === undefined ? [] : [{ service, operation, need }];
  }),
);

export const isKeyless = ({ need }: AccessRow) => typeof need === 'object';
/** Questions that are asked by POST, of everybody with a key. */
const QUESTIONS = new Set(['oauthTokensExist']);

export const isReadOperation = ({ operation, need }: AccessRow) =>
  operation.method === 'get' ||
  QUESTIONS.has(operation.operationId) ||
  (typeof need === 'string' && need.endsWith(':read'));

/** Sends requests of the contracts to a platform. */
export class ContractClient {
  readonly #urls: { url: string; deploymentUrl: string };

  constructor(urls: { url: string; deploymentUrl: string }) {
    this.#urls = urls;
  }

  async request(
    { service, operation }: AccessRow,
    { ids, key, headers = {}, change = (body) => body }: ContractRequestOptions,
  ): Promise<ContractAnswer> {
    const { method, target, body } = buildRequest(operation, ids);
    const { url, deploymentUrl } = this.#urls;
    const response = await fetchAgain((service === 'agent-server' ? deploymentUrl : url) + target, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(operation.body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(operation.body && { body: JSON.stringify(change(body ?? {})) }),
    });
    const contentType = response.headers.get('content-type') ?? '';
    const isStream = contentType.startsWith('text/event-stream');
    if (isStream) await response.body?.cancel();
    return { status: response.status, contentType, text: isStream ? '' : await response.text() };
  }
}

/** A connection that the server closes while it waits for a request is no answer: the request is sent once more. */
async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    if (code !== 'UND_ERR_SOCKET') throw error;
    return fetch(url, init);
  }
}

export interface ContractRequestOptions {
  ids: Ids;
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Changes the body before it is sent. */
  change?(body: unknown): unknown;
}

/** Checks all items, a bounded number at once; resolves with the faults found, in their order. */
export async function findFaults<Item>(
  items: readonly Item[],
  faultOf: (item: Item) => Promise<string | undefined>,
): Promise<string[]> {
  const faults: (string | undefined)[] = new Array(items.length);
  const indexes = items.keys();
  const work = async () => {
    for (const index of indexes) faults[index] = await faultOf(items[index]!);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return faults.filter((fault) => fault !== undefined);
}
