import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import {
  createTestDatabase,
  makeSamlResponse,
  makeSamlSigner,
  samlMetadataOf,
  type TestDatabase,
} from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { PendingSignIns } from '../src/sign-in/sso/pending-sign-ins.ts';
import { SamlClient } from '../src/sign-in/sso/saml/saml-client.ts';
import { SamlSignIn } from '../src/sign-in/sso/saml/saml-sign-in.ts';
import { SsoUrls } from '../src/sso-urls.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const ENTITY = 'https://idp.example.com/metadata';
const SIGNER = makeSamlSigner();
const URLS = new SsoUrls('http://localhost:2024');

let file: TestDatabase;
let database: Database;
let signIn: SamlSignIn;
/** Names of organizations by the domain whose DNS records name them. */
let records: Record<string, string[]>;
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 4, migrationsDir });
  const cipher = new Cipher(randomBytes(32).toString('base64'));
  signIn = new SamlSignIn({
    database,
    client: new SamlClient({ urls: URLS }),
    pending: new PendingSignIns({ database, cipher }),
    ownsDomain: async (domain, organizationId) => records[domain]?.includes(await nameOf(organizationId)) ?? false,
  });
});
afterAll(async () => {
  await database?.close();
  await file?.close();
});
beforeEach(async () => {
  records = {};
  await database.prisma.ssoProvider.deleteMany({});
  await database.prisma.organization.deleteMany({});
});

const nameOf = async (id: string) =>
  (await database.prisma.organization.findUniqueOrThrow({ where: { id } })).displayName;

interface Settings {
  name: string;
  domains?: string[];
  isDefault?: boolean;
  /** The attribute that is mapped to the address. */
  emailAttribute?: string;
  signer?: typeof SIGNER;
}

/** Makes organizations that all set the same provider up by its public metadata. */
async function shareProvider(...all: Settings[]): Promise<void> {
  for (const { name, domains = [], isDefault = false, emailAttribute, signer = SIGNER } of all) {
    const organizationId = uuidv7();
    await database.prisma.organization.create({ data: { id: organizationId, displayName: name, isDefault } });
    await database.prisma.ssoProvider.create({
      data: {
        id: uuidv7(),
        organizationId,
        protocol: 'saml',
        displayName: 'Company',
        defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceUser,
        defaultWorkspaceIds: [],
        configuration: { metadataUrl: null, entityId: ENTITY, isResponseSigned: false, idpInitiatedEnabled: true },
        metadata: samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer }),
        attributeMapping: emailAttribute === undefined ? {} : { keys: { email: { name: emailAttribute } } },
        domains: { create: domains.map((domain) => ({ domain })) },
      },
    });
  }
}

/** Sends a response that nobody asked for. @returns the organization that it is for, or the reason of the refusal */
async function receive(attributes: Record<string, string[]> = { email: ['Ada@Example.com'] }): Promise<string> {
  const xml = makeSamlResponse({
    entityId: ENTITY,
    signer: SIGNER,
    recipient: URLS.samlConsumer,
    audience: URLS.samlEntityId,
    nameId: 'person-1',
    attributes,
  });
  return signIn.receiveUnasked(Buffer.from(xml).toString('base64')).then(
    ({ provider }) => nameOf(provider.organizationId),
    (error: { reason: string }) => error.reason,
  );
}

describe('a response that began at a provider of several organizations', () => {
  it('is for the one whose listed domain names it in DNS, whichever others list it', async () => {
    await shareProvider({ name: 'copier' }, { name: 'owner', domains: ['example.com', 'example.org'] });
    records = { 'example.com': ['owner'] };
    expect(await receive()).toBe('owner');
    expect(await receive({ email: ['ada@example.org'] }), 'a domain that is not proven any more').toBe(
      'answer_invalid',
    );
    await shareProvider({ name: 'claimer', domains: ['example.com'] });
    expect(await receive()).toBe('owner');
  });

  it('is for the default organization too only with the record in DNS, which its settings do not ask for', async () => {
    await shareProvider({ name: 'copier' }, { name: 'default', domains: ['example.com'], isDefault: true });
    expect(await receive()).toBe('answer_invalid');
    records = { 'example.com': ['default'] };
    expect(await receive()).toBe('default');
  });

  it('is refused when none of them owns the domain, or several do, and is not used up by that', async () => {
    await shareProvider({ name: 'one', domains: ['example.com'] }, { name: 'other', domains: ['example.com'] });
    expect(await receive()).toBe('answer_invalid');
    records = { 'example.com': ['one', 'other'] };
    expect(await receive()).toBe('answer_invalid');
    expect(await receive({})).toBe('answer_invalid');
    expect(await database.prisma.usedAssertion.count()).toBe(0);
  });

  it('goes to nobody by an attribute that an organization maps to the address', async () => {
    await shareProvider(
      { name: 'victim' },
      { name: 'attacker', domains: ['attacker.example'], emailAttribute: 'second' },
    );
    records = { 'attacker.example': ['attacker'] };
    expect(await receive({ email: ['ada@example.com'], second: ['ada@attacker.example'] })).toBe('answer_invalid');
    expect(await receive({ second: ['ada@attacker.example'] })).toBe('answer_invalid');
  });

  it('needs no domain when the keys of only one of them fit', async () => {
    await shareProvider({ name: 'trusting' }, { name: 'with another key', signer: makeSamlSigner() });
    expect(await receive()).toBe('trusting');
  });
});
