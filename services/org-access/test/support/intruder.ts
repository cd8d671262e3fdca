import type { BasicMember, IssuedApiKey, PasskeyOptions } from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../../src/access/platform-roles.ts';
import { PASSWORD } from './accounts.ts';
import { PageClient } from './page-client.ts';
import type { TestPeople } from './people.ts';
import type { Answer, TestOrgAccess } from './platform.ts';
import { SoftwareAuthenticator } from './software-authenticator.ts';

/** The administrator of another organization of the platform, who claims addresses that are not theirs. */
export class Intruder {
  readonly organizationId: string;
  readonly #platform: TestOrgAccess;
  readonly #token: string;

  private constructor(platform: TestOrgAccess, organizationId: string, token: string) {
    this.#platform = platform;
    this.organizationId = organizationId;
    this.#token = token;
  }

  static async create(platform: TestOrgAccess, people: TestPeople): Promise<Intruder> {
    const { organizationId } = await people.addOrganization('Intruders');
    const personId = await people.addPerson(`${uuidv7()}@intruders.example`);
    await people.addMember(personId, organizationId, [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin }]);
    const { token } = await people.signIn(personId);
    return new Intruder(platform, organizationId, token);
  }

  call<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#platform.callAs<Body>(
      { token: this.#token, organizationId: this.organizationId },
      method,
      `/api/v1/orgs/current/${path}`,
      body,
    );
  }

  /** Makes an account for an address, with everything that signs in to it and acts for it. */
  async claimByAccount(email: string) {
    const made = await this.call<BasicMember[]>('POST', 'members/basic/batch', [{ email, password: PASSWORD }]);
    if (made.status !== 200) throw new Error(`no account: ${JSON.stringify(made)}`);
    const browser = new PageClient(this.#platform.service.url, '198.51.100.200');
    await browser.submit('/auth/password', { email, password: PASSWORD });
    const call = <Body>(path: string, body: object) =>
      this.#platform.callAs<Body>({ token: browser.sessionToken! }, 'POST', path, body);
    const passkey = new SoftwareAuthenticator();
    const asked = await call<PasskeyOptions>('/api/v1/passkeys/options', { current_password: PASSWORD });
    const added = await call('/api/v1/passkeys', { name: 'Key', credential: passkey.create(asked.body) });
    if (added.status !== 201) throw new Error(`no passkey: ${JSON.stringify(added)}`);
    const { body: token } = await call<IssuedApiKey>('/api/v1/orgs/current/personal-access-tokens', {});
    return { member: made.body[0]!, browser, passkey, personalToken: token.key };
  }
}
