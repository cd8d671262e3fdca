/** Acts as an identity provider whose users and groups are numbered. */
export class ScimDirectory {
  readonly #url: string;
  readonly #token: string;
  /** Ids in the order of creation. */
  readonly users: string[] = [];
  readonly groups: string[] = [];

  constructor(options: { url: string; token: string }) {
    this.#url = `${options.url}/scim/v2`;
    this.#token = options.token;
  }

  async createUser(): Promise<void> {
    const name = `user-${this.users.length}`;
    const { id } = await this.send<{ id: string }>('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: name,
      externalId: `external-${name}`,
      name: { givenName: 'User', familyName: name },
      emails: [{ type: 'work', value: `${name}@example.com`, primary: true }],
      active: true,
    });
    this.users.push(id);
  }

  /** Creates a group that gives roles in the first workspace. */
  async createGroup(members: readonly string[]): Promise<void> {
    const { id } = await this.send<{ id: string }>('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: `${this.groups.length} Organization User:Workspace 1:Editor`,
      members: members.map((value) => ({ value })),
    });
    this.groups.push(id);
  }

  async addMembers(groupId: string, members: readonly string[]): Promise<void> {
    await this.send('PATCH', `/Groups/${groupId}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'members', value: members.map((value) => ({ value })) }],
    });
  }

  /** @throws Error unless exactly `wanted` resources match */
  async search(path: string, filter: string, wanted: number): Promise<void> {
    const query = new URLSearchParams({ filter, excludedAttributes: 'members' });
    const { totalResults } = await this.send<{ totalResults: number }>('GET', `${path}?${query}`);
    if (totalResults !== wanted) throw new Error(`${filter} has ${totalResults} results, not ${wanted}`);
  }

  /** @throws Error for an answer of 400 or more */
  async send<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }
}
