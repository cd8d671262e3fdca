import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** The program of a person, as the official clients want it: it keeps what they get, and opens pages. */
export class AuthorizingProgram implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  client: StoredOAuthClientInformation | undefined;
  granted: StoredOAuthTokens | undefined;
  /** The page at which the person is asked. */
  asked: URL | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  readonly #state = randomUUID();
  #verifier = '';
  readonly #close: () => Promise<void>;

  private constructor(redirectUrl: string, close: () => Promise<void>) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { client_name: 'A program', redirect_uris: [redirectUrl] };
    this.#close = close;
  }

  /** Starts the program, with the page to which the person comes back. */
  static async start(): Promise<AuthorizingProgram> {
    const server = createServer((_, answer) => answer.end('You may close this page.')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new AuthorizingProgram(`http://127.0.0.1:${port}/callback`, async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    });
  }

  state = () => this.#state;
  clientInformation = () => this.client;
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.client = client;
  };
  tokens = () => this.granted;
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.granted = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };
  discoveryState = () => this.#discovered;
  saveDiscoveryState = (discovered: OAuthDiscoveryState) => {
    this.#discovered = discovered;
  };
  codeVerifier = () => this.#verifier;
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };

  /** Returns what a page says with which the person comes back. */
  answerIn(page: string): URLSearchParams {
    const { origin, pathname, searchParams } = new URL(page);
    if (origin + pathname !== this.redirectUrl || searchParams.get('state') !== this.#state)
      throw new Error(`the person is at ${page}`);
    return searchParams;
  }

  close(): Promise<void> {
    return this.#close();
  }
}
