import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../../src/access/platform-roles.ts';
import { type FetchedPage, PageClient } from './page-client.ts';
import type { TestPeople } from './people.ts';
import type { TestOrgAccess } from './platform.ts';

export const PASSWORD = 'seven grey herons asleep';

export interface SignedUp {
  email: string;
  organizationId: string;
  browser: PageClient;
  /** The page of the account. */
  account: FetchedPage;
}

/** Makes accounts on the pages of a platform, as people do. */
export class TestAccounts {
  readonly #platform: TestOrgAccess;
  readonly #people: TestPeople;
  #addresses = 0;

  constructor(platform: TestOrgAccess, people: TestPeople) {
    this.#platform = platform;
    this.#people = people;
  }

  /** Opens a browser at an address of its own. */
  newBrowser(): PageClient {
    return new PageClient(this.#platform.service.url, `198.51.100.${++this.#addresses}`);
  }

  /** @returns the path of the link */
  async invite(email: string, organizationId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.#people.database.prisma.invite.create({
      data: {
        id: uuidv7(),
        organizationId,
        email,
        organizationRoleId: PLATFORM_ROLES.organizationUser,
        tokenSha256: new Uint8Array(createHash('sha256').update(token).digest()),
        expiresAt: new Date(Date.now() + 60_000),
      },
    });
    return `/login/invite?token=${token}`;
  }

  /** Makes a person with an account by an invite. */
  async signUp(email = `${uuidv7()}@example.com`): Promise<SignedUp> {
    const { organizationId } = await this.#people.addOrganization();
    const browser = this.newBrowser();
    const page = await browser.open(await this.invite(email, organizationId));
    const account = await browser.submit('/login/invite', { full_name: 'Grace Hopper', password: PASSWORD }, page);
    if (account.path !== '/auth/account') throw new Error(`sign-up ends at ${account.path}: ${account.text}`);
    return { email, organizationId, browser, account };
  }

  /** Returns the actions in the audit trail of an organization, each with the step that decided. */
  async actionsOf(organizationId: string): Promise<(readonly [action: string, step: number | null])[]> {
    const events = await this.#people.database.prisma.auditEvent.findMany({
      where: { organizationId },
      orderBy: { sequence: 'asc' },
    });
    return events.map(({ action, details }) => [action, (details as { step?: number } | null)?.step ?? null] as const);
  }
}
