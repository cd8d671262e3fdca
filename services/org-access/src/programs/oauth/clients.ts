import { type ClientRegistrationRequest, MCP_SCOPE, type RegisteredClient } from '@runyard/contracts';
import { type Cipher, EncryptionError } from '@runyard/encryption';
import { v7 as uuidv7 } from 'uuid';
import { invalidRequest, unknownClient } from './oauth-error.ts';
import { isRedirectUri } from './redirect-uris.ts';

/** A public client: none has a secret. */
export interface OAuthClient {
  /** Kept with its sessions. */
  id: string;
  /** The name that the client gives itself. */
  name: string;
  /** The addresses to which authorization codes may go; empty for a client that gets none. */
  redirectUris: readonly string[];
}

/** Programs that may act for people in everything, by the codes of devices. */
const PROGRAMS: ReadonlyMap<string, string> = new Map([['langsmith-cli', 'LangSmith CLI']]);
export const CODE_GRANTS: readonly string[] = ['authorization_code', 'refresh_token'];
const PREFIX = 'mcp_';
const PLACE = 'oauth-client';
const NAME_MAX = 100;
/** The `client_id` is a part of addresses of pages, which have a limit. */
const CLIENT_ID_MAX = 1_000;

/**
 * Registers and recognises clients. The `client_id` of a registered one contains its metadata, encrypted: anybody may
 * register clients, and nothing is stored for those that nobody ever uses. It works as long as its encryption key is
 * configured.
 */
export class OAuthClients {
  readonly #cipher: Cipher;

  constructor({ cipher }: { cipher: Cipher }) {
    this.#cipher = cipher;
  }

  /** @throws BadRequestError */
  register(request: ClientRegistrationRequest): RegisteredClient {
    const { redirect_uris: redirectUris = [], grant_types: grants = ['authorization_code'] } = request;
    const { response_types: responseTypes = ['code'] } = request;
    if (redirectUris.length === 0) throw invalidRequest('invalid_redirect_uri', 'redirect_uris is missing');
    const refused = redirectUris.find((uri) => !isRedirectUri(uri));
    if (refused !== undefined)
      throw invalidRequest(
        'invalid_redirect_uri',
        `Neither https nor http at localhost or 127.0.0.1: ${refused.slice(0, 200)}`,
      );
    if (!grants.includes('authorization_code') || !responseTypes.includes('code'))
      throw invalidRequest('invalid_client_metadata', 'Clients get tokens for authorization codes');
    const client: OAuthClient = { id: `mcp:${uuidv7()}`, name: nameOf(request), redirectUris };
    const clientId = PREFIX + this.#cipher.encrypt(JSON.stringify(client), PLACE);
    if (clientId.length > CLIENT_ID_MAX)
      throw invalidRequest('invalid_client_metadata', 'The metadata are too long: register fewer redirect_uris');
    return {
      client_id: clientId,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      client_name: client.name,
      redirect_uris: redirectUris,
      grant_types: grants.filter((grant) => CODE_GRANTS.includes(grant)),
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: MCP_SCOPE,
    };
  }

  /** Returns a known client. @throws BadRequestError without one, UnauthorizedError for another */
  require(clientId: string | undefined): OAuthClient {
    if (!clientId) throw invalidRequest('invalid_request', 'client_id is missing');
    const program = PROGRAMS.get(clientId);
    if (program !== undefined) return { id: clientId, name: program, redirectUris: [] };
    if (!clientId.startsWith(PREFIX)) throw unknownClient();
    try {
      return JSON.parse(this.#cipher.decrypt(clientId.slice(PREFIX.length), PLACE)) as OAuthClient;
    } catch (error) {
      if (error instanceof EncryptionError) throw unknownClient();
      throw error;
    }
  }
}

/** Returns the name of a program by its id in the database. */
export function programName(clientId: string): string {
  return PROGRAMS.get(clientId) ?? clientId;
}

/** Returns a name of one line, so that it cannot pass for a sentence of the page. */
function nameOf({ client_name: name = '' }: ClientRegistrationRequest): string {
  const printable = name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return [...printable].slice(0, NAME_MAX).join('') || 'An MCP client';
}
