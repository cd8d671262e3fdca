import type { IncomingMessage } from 'node:http';
import { ForbiddenError, isHost, UnauthorizedError } from '@runyard/service-kit';
import ipaddr from 'ipaddr.js';
import { findSocketUser } from './socket-user.ts';

type LocalRequest = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders' | 'socket'>;

/** The pages of LangGraph Studio, one for each region. They call the server on the machine of their reader. */
const STUDIO_ORIGINS = ['', 'eu.', 'apac.', 'aws.'].map((region) => `https://${region}smith.langchain.com`);

/** Added by proxies and tunnels, whose requests come from anywhere. */
const PROXY_HEADERS = ['forwarded', 'via', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-forwarded-server'];

/** Browsers say so of requests without an origin that a page of the same host, or the person, asked for. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none']);

/**
 * Tells requests of this machine, by programs and by pages that may call, from those of another site or another machine.
 * Anybody on the machine connects from a loopback address, a browser with a page of another site too, which may even
 * have given its own name that address: the address alone proves nothing.
 */
export class LocalRequests {
  readonly #origins: ReadonlySet<string>;
  readonly #projectUsers: { first: number; last: number } | undefined;
  readonly #isOfOtherDeployment: (host: string) => boolean;

  /**
   * @param options.origins further origins whose pages may call
   * @param options.projectUsers users that run code of projects, as `100000-999999999`: their requests are not local
   * @param options.isOfOtherDeployment tells the names at which this gateway serves pages of other projects
   */
  constructor(options: {
    origins: readonly string[];
    projectUsers: string | undefined;
    isOfOtherDeployment: (host: string) => boolean;
  }) {
    this.#isOfOtherDeployment = options.isOfOtherDeployment;
    this.#origins = new Set([...STUDIO_ORIGINS, ...options.origins]);
    const [first, last] = options.projectUsers?.split('-').map(Number) ?? [];
    this.#projectUsers = first === undefined || last === undefined ? undefined : { first, last };
  }

  /** @throws ForbiddenError for a page of another site, UnauthorizedError for whoever else is not of this machine */
  async require(req: LocalRequest): Promise<void> {
    const from = await this.#originOf(req);
    if (from === 'foreign page') {
      throw new ForbiddenError('Pages of this origin may not call without a key: name it with --origin', {
        code: 'foreign_page',
      });
    }
    if (from === 'elsewhere') {
      throw new UnauthorizedError('Missing authentication headers: only this machine, by its own names, needs none', {
        code: 'credentials_missing',
      });
    }
  }

  /** Returns whether it is of this machine, by a program or by a page that may call. */
  async admits(req: LocalRequest): Promise<boolean> {
    return (await this.#originOf(req)) === 'here';
  }

  async #originOf(req: LocalRequest): Promise<'here' | 'foreign page' | 'elsewhere'> {
    if (this.#isOfForeignPage(req)) return 'foreign page';
    return isFromHere(req) && (await this.#isOfTrustedUser(req)) ? 'here' : 'elsewhere';
  }

  /** Returns whether a page asks that is neither local nor allowed. Programs send none of these headers. */
  #isOfForeignPage({ headers, socket }: LocalRequest): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined) {
      if (this.#origins.has(origin)) return false;
      return !isLocalOrigin(origin) || this.#isServedHere(new URL(origin), socket);
    }
    return site !== undefined && !OWN_SITES.has(String(site));
  }

  /** Returns whether this gateway serves the page as one of another project, whose pages are strangers. */
  #isServedHere({ hostname, port, protocol }: URL, socket: IncomingMessage['socket']): boolean {
    const own = Number(port || (protocol === 'https:' ? 443 : 80)) === socket.localPort;
    return own && this.#isOfOtherDeployment(hostname);
  }

  /** Code of projects that runs as users of its own must not have the rights of the person who started it. */
  async #isOfTrustedUser({ socket }: LocalRequest): Promise<boolean> {
    if (this.#projectUsers === undefined) return true;
    const user = await findSocketUser(socket);
    return user !== undefined && (user < this.#projectUsers.first || user > this.#projectUsers.last);
  }
}

/**
 * Returns whether a request was made on this machine, for one of its own names. A tunnel or a proxy on the machine is
 * not who asks: what it says of others has to be of this machine too.
 */
function isFromHere({ headers, httpVersion, rawHeaders, socket }: LocalRequest): boolean {
  // Programs of this machine speak HTTP/1.1: proxies that say nothing of whom they speak for may not.
  if (httpVersion === '1.0' || PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1 || !isLocalHost(headers.host)) return false;
  if (!isLoopback(socket.remoteAddress)) return false;
  const isNamedLocally = (name: string, isLocal: (text: string) => boolean) =>
    String(headers[name] ?? '')
      .split(',')
      .map((text) => text.trim())
      .every((text) => text === '' || isLocal(text));
  return (
    isNamedLocally('x-forwarded-for', isLoopback) &&
    isNamedLocally('x-real-ip', isLoopback) &&
    isNamedLocally('x-forwarded-host', isLocalHost)
  );
}

/** Returns whether a page comes from a server on the machine of its reader. */
function isLocalOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host, origin: parsed } = new URL(origin);
  return (protocol === 'http:' || protocol === 'https:') && parsed === origin && isLocalHost(host);
}

/** Returns whether a name or address, with or without a port, is one that this machine alone has. */
function isLocalHost(host: string | undefined): boolean {
  const url = `http://${host}`;
  if (host === undefined || !isHost(host) || !URL.canParse(url)) return false;
  const name = new URL(url).hostname.replace(/^\[|\]$|\.$/g, '');
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name);
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
