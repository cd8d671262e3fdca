import { type GitServerType, LISTED_REPOSITORIES_MAX } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import { type OutboundAnswer, type OutboundClient, OutboundRefusedError } from '@runyard/outbound';
import { BadGatewayError, BadRequestError, TooManyRequestsError } from '@runyard/service-kit';
import { possibleTypes, SERVER_APIS, type ServerRepository } from './server-apis.ts';

/** A server that is slower is taken for one that is away. */
const REQUEST_MS = 10_000;
/** All pages together: somebody waits for them. */
const ALL_MS = 30_000;
/** Of a hundred repositories, of which the wordiest server says some ten kilobytes each. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Also for a server that always says that there is one more. */
const PAGES_MAX = LISTED_REPOSITORIES_MAX / 50;
/** Seconds after which to try again, of a server that does not say or says a long time. */
const RETRY_SECONDS = { unknown: 60, max: 3_600 };

/** A Git server, and a token that is for it alone. */
export interface GitServer {
  /** `https://host[:port]` */
  url: string;
  /** Null: not known yet. */
  type: GitServerType | null;
  token: string;
}

export interface ListedRepositories {
  type: GitServerType;
  repositories: ServerRepository[];
}

/** What a header may hold; git takes more for a password. */
const HEADER_TEXT = /^[\x20-\x7e\x80-\xff]+$/;

interface Page {
  repositories: ServerRepository[];
  isLast: boolean;
}

/** Asks Git servers which repositories a token may read. Addresses are made here: those that a server names get no token. */
export class RepositoryListing {
  readonly #outbound: OutboundClient;

  constructor(outbound: OutboundClient) {
    this.#outbound = outbound;
  }

  /**
   * @throws BadRequestError for a token or a server that does not do, TooManyRequestsError when the server has had enough,
   * BadGatewayError when it is away or makes no sense
   */
  async list(server: GitServer, signal: AbortSignal): Promise<ListedRepositories> {
    if (!HEADER_TEXT.test(server.token)) throw refusedToken(server.url);
    return withDeadline(signal, ALL_MS, (deadline) => this.#all(server, deadline));
  }

  async #all(server: GitServer, deadline: AbortSignal): Promise<ListedRepositories> {
    const { type, first } = await this.#recognized(server, deadline);
    // A repository that moved between two pages is on both of them.
    const found = new Map<number, ServerRepository>();
    for (let page = first, number = 1; ; page = await this.#page(server, type, number, deadline)) {
      for (const repository of page.repositories) found.set(repository.id, repository);
      number += 1;
      if (page.isLast || found.size >= LISTED_REPOSITORIES_MAX || number > PAGES_MAX) break;
    }
    return { type, repositories: [...found.values()].slice(0, LISTED_REPOSITORIES_MAX) };
  }

  /** Of the kinds that a server may be of the one whose address there is, with the first page from there. */
  async #recognized(server: GitServer, deadline: AbortSignal): Promise<{ type: GitServerType; first: Page }> {
    for (const type of server.type ? [server.type] : possibleTypes(server.url)) {
      const answer = await this.#ask(server, type, 1, deadline);
      if (isOfApi(answer)) return { type, first: pageOf(server, type, answer) };
    }
    const which = server.type ?? 'GitHub, Gitea, Forgejo or GitLab';
    throw new BadRequestError(
      `The Git server ${server.url} does not answer as one of ${which}: its repositories cannot be listed, but be named by their URL.`,
    );
  }

  async #page(server: GitServer, type: GitServerType, number: number, deadline: AbortSignal): Promise<Page> {
    return pageOf(server, type, await this.#ask(server, type, number, deadline));
  }

  async #ask({ url, token }: GitServer, type: GitServerType, page: number, signal: AbortSignal) {
    const api = SERVER_APIS[type];
    try {
      return await this.#outbound.request(api.pageUrl(url, token, page), {
        method: 'GET',
        // Servers want to know who asks; GitHub refuses who does not say.
        headers: { 'user-agent': 'runyard', ...api.headers(token) },
        timeoutMs: REQUEST_MS,
        maxBodyBytes: PAGE_BYTES_MAX,
        signal,
      });
    } catch (error) {
      if (error instanceof OutboundRefusedError) throw new BadRequestError(`${error.message}.`);
      const { name, message } = error as Error;
      throw new BadGatewayError(`The Git server ${url} cannot be reached.`, {
        internal: { reason: { name, message } },
      });
    }
  }
}

/** Whether there is such an API at all, whatever it says to the request. Pages for people are not of it. */
function isOfApi({ status, headers }: OutboundAnswer): boolean {
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return false;
  return status >= 500 || /\bjson\b/i.test(String(headers['content-type'] ?? ''));
}

function pageOf({ url }: GitServer, type: GitServerType, answer: OutboundAnswer): Page {
  if (answer.status !== 200) throw refusalOf(url, answer);
  const repositories = SERVER_APIS[type].repositoriesIn(parsed(answer.body));
  if (!repositories) throw new BadGatewayError(`The Git server ${url} gave an answer that makes no sense.`);
  return { repositories, isLast: !/\brel="?next\b/i.test(String(answer.headers.link ?? '')) };
}

function refusalOf(url: string, { status, headers }: OutboundAnswer): Error {
  const isOverLimit = status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0');
  if (isOverLimit) {
    const asked = Number(headers['retry-after'] ?? Number.NaN);
    const retryAfterSeconds = asked >= 1 ? Math.min(asked, RETRY_SECONDS.max) : RETRY_SECONDS.unknown;
    return new TooManyRequestsError(`The Git server ${url} takes no more requests for now.`, { retryAfterSeconds });
  }
  if (status === 401) return refusedToken(url);
  if (status >= 400 && status < 500) {
    return new BadRequestError(`The Git server ${url} does not let the token of the integration list repositories.`);
  }
  return new BadGatewayError(`The Git server ${url} answers with ${status}.`);
}

const refusedToken = (url: string) =>
  new BadRequestError(`The Git server ${url} does not take the token of the integration.`);

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
