import { type GitServerType, LISTED_REPOSITORIES_MAX } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import { type OutboundClient, OutboundRefusedError, type OutboundResponse } from '@runyard/outbound';
import { BadGatewayError, BadRequestError, TooManyRequestsError } from '@runyard/service-kit';
import { possibleTypes, SERVER_APIS, type ServerRepository } from './server-apis.ts';

/** A server that takes longer counts as unavailable. */
const REQUEST_MS = 10_000;
/** Limits all pages together, because a caller waits. */
const ALL_MS = 30_000;
/** Limits a page of a hundred repositories. The most verbose server sends some ten kilobytes for each. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Limits a listing even if the server always announces another page. */
const PAGES_MAX = LISTED_REPOSITORIES_MAX / 50;
/** Seconds until a retry when the server sends none, and the maximum for those it sends. */
const RETRY_SECONDS = { unknown: 60, max: 3_600 };

/** A Git server with the token for it. */
export interface GitServer {
  /** `https://host[:port]` */
  url: string;
  /** Null when it is not known yet. */
  type: GitServerType | null;
  token: string;
}

export interface ListedRepositories {
  type: GitServerType;
  repositories: ServerRepository[];
}

/** Characters that a header may contain. git accepts more in a password. */
const HEADER_TEXT = /^[\x20-\x7e\x80-\xff]+$/;

interface Page {
  repositories: ServerRepository[];
  isLast: boolean;
}

/**
 * Lists the repositories that a token may read. The URLs of requests are built here, because URLs that a server returns
 * must not get the token.
 */
export class RepositoryListing {
  readonly #outbound: OutboundClient;

  constructor(outbound: OutboundClient) {
    this.#outbound = outbound;
  }

  /**
   * @throws BadRequestError for an invalid token or an unsupported server, TooManyRequestsError when the server limits
   * its rate, BadGatewayError when it is unavailable or its answer is invalid
   */
  async list(server: GitServer, signal: AbortSignal): Promise<ListedRepositories> {
    if (!HEADER_TEXT.test(server.token)) throw refusedToken(server.url);
    return withDeadline(signal, ALL_MS, (deadline) => this.#all(server, deadline));
  }

  async #all(server: GitServer, deadline: AbortSignal): Promise<ListedRepositories> {
    const { type, first } = await this.#recognizeServer(server, deadline);
    // A repository that moved between two pages appears on both.
    const found = new Map<number, ServerRepository>();
    for (let page = first, number = 1; ; page = await this.#page(server, type, number, deadline)) {
      for (const repository of page.repositories) found.set(repository.id, repository);
      number += 1;
      if (page.isLast || found.size >= LISTED_REPOSITORIES_MAX || number > PAGES_MAX) break;
    }
    return { type, repositories: [...found.values()].slice(0, LISTED_REPOSITORIES_MAX) };
  }

  /** Finds the kind of the server by trying the APIs that it may have. Returns it with the first page. */
  async #recognizeServer(server: GitServer, deadline: AbortSignal): Promise<{ type: GitServerType; first: Page }> {
    for (const type of server.type ? [server.type] : possibleTypes(server.url)) {
      const answer = await this.#ask(server, type, 1, deadline);
      if (isApiAnswer(answer)) return { type, first: pageOf(server, type, answer) };
    }
    const which = server.type ?? 'GitHub, Gitea, Forgejo or GitLab';
    throw new BadRequestError(
      `The Git server ${server.url} does not answer as one of ${which}: its repositories cannot be listed, but be named by their URL.`,
      { code: 'git_server_unsupported' },
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
        // GitHub refuses requests without a user agent.
        headers: { 'user-agent': 'runyard', ...api.headers(token) },
        timeoutMs: REQUEST_MS,
        maxBodyBytes: PAGE_BYTES_MAX,
        signal,
      });
    } catch (error) {
      if (error instanceof OutboundRefusedError)
        throw new BadRequestError(`${error.message}.`, { code: 'url_refused' });
      const { name, message } = error as Error;
      throw new BadGatewayError(`The Git server ${url} cannot be reached.`, {
        code: 'git_server_unavailable',
        internal: { reason: { name, message } },
      });
    }
  }
}

/**
 * Returns whether the server has this API at all, even if it refuses the request. HTML pages do not belong to an API.
 */
function isApiAnswer({ status, headers }: OutboundResponse): boolean {
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return false;
  return status >= 500 || /\bjson\b/i.test(String(headers['content-type'] ?? ''));
}

function pageOf({ url }: GitServer, type: GitServerType, answer: OutboundResponse): Page {
  if (answer.status !== 200) throw refusalOf(url, answer);
  const repositories = SERVER_APIS[type].repositoriesIn(parseJson(answer.body));
  if (!repositories)
    throw new BadGatewayError(`The Git server ${url} gave an answer that makes no sense.`, {
      code: 'git_server_unavailable',
    });
  return { repositories, isLast: !/\brel="?next\b/i.test(String(answer.headers.link ?? '')) };
}

function refusalOf(url: string, { status, headers }: OutboundResponse): Error {
  const isOverLimit = status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0');
  if (isOverLimit) {
    const asked = Number(headers['retry-after'] ?? Number.NaN);
    const retryAfterSeconds = asked >= 1 ? Math.min(asked, RETRY_SECONDS.max) : RETRY_SECONDS.unknown;
    return new TooManyRequestsError(`The Git server ${url} takes no more requests for now.`, {
      code: 'git_server_rate_limited',
      retryAfterSeconds,
    });
  }
  if (status === 401) return refusedToken(url);
  if (status >= 400 && status < 500) {
    return new BadRequestError(`The Git server ${url} does not let the token of the integration list repositories.`, {
      code: 'git_token_refused',
    });
  }
  return new BadGatewayError(`The Git server ${url} answers with ${status}.`, { code: 'git_server_unavailable' });
}

const refusedToken = (url: string) =>
  new BadRequestError(`The Git server ${url} does not take the token of the integration.`, {
    code: 'git_token_refused',
  });

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
