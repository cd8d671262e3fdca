import type { IssuedScimToken } from '@runyard/contracts';
import type { TestOrgAccess } from './platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are of many forms, and tests look into them.
type ScimBody = Record<string, any>;

export interface ScimAnswer {
  status: number;
  headers: Headers;
  body: ScimBody;
}

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Calls org-access as an identity provider does. */
export class ScimClient {
  readonly #platform: TestOrgAccess;
  readonly token: string;

  constructor(platform: TestOrgAccess, token: string) {
    this.#platform = platform;
    this.token = token;
  }

  /** Makes a token as the first administrator. */
  static async create(platform: TestOrgAccess): Promise<ScimClient> {
    const path = '/v1/platform/orgs/current/scim/tokens';
    const { body } = await platform.asAdmin<IssuedScimToken>('POST', path, { description: 'test' });
    return new ScimClient(platform, body.token);
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ScimAnswer> {
    const answer = await fetch(`${this.#platform.service.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/scim+json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  get(path: string, headers?: Record<string, string>): Promise<ScimAnswer> {
    return this.send('GET', path, undefined, headers);
  }

  patch(path: string, ...operations: object[]): Promise<ScimAnswer> {
    return this.send('PATCH', path, { schemas: [PATCH], Operations: operations });
  }

  /** Creates a user whose work address is the name at example.com. */
  createUser(name: string, more: object = {}): Promise<ScimAnswer> {
    return this.send('POST', '/Users', {
      schemas: [USER],
      userName: name,
      externalId: `external ${name}`,
      emails: [{ type: 'work', value: `${name}@example.com`, primary: true }],
      ...more,
    });
  }

  createGroup(displayName: string, memberIds: string[] = []): Promise<ScimAnswer> {
    return this.send('POST', '/Groups', {
      schemas: [GROUP],
      displayName,
      members: memberIds.map((value) => ({ value })),
    });
  }
}
