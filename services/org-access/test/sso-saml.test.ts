import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import type { SsoSettings } from '@runyard/contracts';
import { makeSamlResponse, makeSamlSigner, type SamlResponseOptions, samlMetadataOf } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { parseIdpMetadata } from '../src/sign-in/sso/saml/idp-metadata.ts';
import { TestBrowser } from './support/browser.ts';
import { TestOrgAccess } from './support/platform.ts';

const SETTINGS = '/api/v1/orgs/current/sso-settings';
const ACS = '/auth/v1/sso/saml/acs';
const ENTITY = 'https://idp.example.com/metadata';
const RECIPIENT = 'http://localhost:2024/auth/v1/sso/saml/acs';
const AUDIENCE = 'http://localhost:2024/auth/v1/sso/saml/metadata';

const TEST_SIGNER = makeSamlSigner();

let platform: TestOrgAccess;
let metadata: Server;
let served: string;
let provider: SsoSettings;
let browser: TestBrowser;
beforeAll(async () => {
  served = samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer: TEST_SIGNER });
  metadata = createServer((_, res) => res.end(served));
  await new Promise<void>((resolve) => metadata.listen(0, '127.0.0.1', resolve));
  platform = await TestOrgAccess.start({ environment: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  const { body } = await platform.asAdmin<SsoSettings>('POST', SETTINGS, {
    default_workspace_role_id: PLATFORM_ROLES.workspaceUser,
    default_workspace_ids: [platform.bootstrap.workspace_id],
    metadata_url: `http://127.0.0.1:${(metadata.address() as AddressInfo).port}/`,
    attribute_mapping: { keys: { name: { name: 'displayName' } } },
    idp_initiated_enabled: true,
  });
  provider = body;
});
afterAll(async () => {
  await platform?.close();
  metadata?.close();
});
beforeEach(() => {
  browser = new TestBrowser(() => platform.service.url);
});

const response = (change: Partial<SamlResponseOptions> = {}) =>
  makeSamlResponse({
    entityId: ENTITY,
    signer: TEST_SIGNER,
    recipient: RECIPIENT,
    audience: AUDIENCE,
    nameId: 'Person-1',
    attributes: { email: ['ada@example.com'], displayName: ['Ada Lovelace'] },
    ...change,
  });
const post = (xml: string, relayState?: string) =>
  browser.visit(ACS, {
    isCrossSite: true,
    form: {
      SAMLResponse: Buffer.from(xml).toString('base64'),
      ...(relayState === undefined ? {} : { RelayState: relayState }),
    },
  });
/** Goes to the provider, as far as the request for sign-in. */
const begin = async (returnTo = '/studio') => {
  const { location } = await browser.visit(`/auth/v1/sso/start/${provider.id}?return_to=${returnTo}`);
  const url = new URL(location);
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString();
  return { url, xml, id: / ID="([^"]+)"/.exec(xml)![1]!, relayState: url.searchParams.get('RelayState')! };
};
const change = (body: object) => platform.asAdmin<SsoSettings>('PATCH', `${SETTINGS}/${provider.id}`, body);

describe('sign-in by SAML that begins here', () => {
  it('goes to the provider and back, and opens a session in the browser that began', async () => {
    const { url, xml, id, relayState } = await begin();
    expect(url.origin).toBe('https://idp.example.com');
    expect(xml).toContain(RECIPIENT);
    expect(xml).toContain('nameid-format:persistent');
    const answer = await post(response({ inResponseTo: id }), relayState);
    expect(answer).toMatchObject({ status: 303, location: expect.stringContaining('/auth/v1/sso/saml/complete') });
    expect(browser.isSignedIn, 'not before it comes with its cookie').toBe(false);
    const other = new TestBrowser(() => platform.service.url);
    other.cookies.set('runyard_sso', 'guessed');
    expect((await other.visit(answer.location)).status).toBe(403);
    expect(await browser.visit(answer.location)).toMatchObject({ status: 303, location: '/studio' });
    expect(browser.isSignedIn).toBe(true);
    expect((await browser.visit(answer.location)).status, 'it ends once').toBe(403);
    const people = await platform.query('SELECT full_name FROM person WHERE email = $1', ['ada@example.com']);
    expect(people).toEqual([{ full_name: 'Ada Lovelace' }]);
  });

  it('takes no response to another request, to none, or to the same one twice', async () => {
    const { id, relayState } = await begin();
    for (const inResponseTo of ['_other', undefined]) {
      expect((await post(response(inResponseTo ? { inResponseTo } : {}), relayState)).status).toBe(403);
    }
    // The attribute of the unsigned response fits, the one of the signed assertion does not.
    const mixed = response({ inResponseTo: '_other' }).replace('InResponseTo="_other"', `InResponseTo="${id}"`);
    expect((await post(mixed, relayState)).status).toBe(403);
    expect((await post(response({ inResponseTo: id }), relayState)).status).toBe(303);
    expect((await post(response({ inResponseTo: id }), relayState)).status).toBe(403);
    expect((await post(response({ inResponseTo: id }))).status, 'an answer is no sign-in that began there').toBe(403);
  });
});

describe('sign-in by SAML that begins at the provider', () => {
  it('opens a session, for a path of this site only, unless it is switched off', async () => {
    expect(await post(response(), '/studio')).toMatchObject({ status: 303, location: '/studio' });
    expect(browser.isSignedIn).toBe(true);
    expect((await post(response(), '//evil.example.com')).location).toBe('/');
    await change({ idp_initiated_enabled: false });
    expect((await post(response())).status).toBe(403);
    await change({ idp_initiated_enabled: true });
  });

  it('finds the person again by the NameID in any case, and reads it whole around a comment', async () => {
    await post(response({ nameId: 'PERSON-1', attributes: { email: ['ada.new@example.com'] } }));
    expect(browser.isSignedIn).toBe(true);
    const split = response({ nameId: 'person-1<!-- -->.evil', attributes: { email: ['evil@example.com'] } });
    await post(split);
    const logins = await platform.query('SELECT subject FROM login ORDER BY subject', []);
    expect(logins).toEqual([{ subject: 'person-1' }, { subject: 'person-1.evil' }]);
  });

  it('takes the address from a NameID that is one, when no attribute has it', async () => {
    const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    expect((await post(response({ nameId: 'bob@example.com', nameIdFormat, attributes: {} }))).status).toBe(303);
    expect((await post(response({ nameId: 'nobody', attributes: {} }))).text).toContain('email address');
  });

  it('uses an assertion once', async () => {
    const xml = response();
    const answers = await Promise.all([post(xml), post(xml), post(xml)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 403, 403]);
  });
});

/** Moves the signed assertion elsewhere, and puts an unsigned one with another person in its place. */
function wrap(where: 'before' | 'after' | 'extension' | 'inside' | 'object' | 'same id'): string {
  const signed = response();
  const assertion = /<saml:Assertion.*<\/saml:Assertion>/s.exec(signed)![0];
  const evil = assertion
    .replace(/<Signature.*<\/Signature>/s, '')
    .replace(/(<saml:NameID[^>]*>)[^<]*/, '$1evil')
    .replaceAll('ada@example.com', 'evil@example.com');
  const renamed = evil.replace(/ID="[^"]*"/, 'ID="_evil"');
  switch (where) {
    case 'before':
      return signed.replace(assertion, renamed + assertion);
    case 'after':
      return signed.replace(assertion, assertion + renamed);
    case 'extension':
      return signed.replace(assertion, `<samlp:Extensions>${assertion}</samlp:Extensions>${renamed}`);
    case 'inside':
      return signed.replace(assertion, renamed.replace('</saml:Assertion>', `${assertion}</saml:Assertion>`));
    case 'object': {
      const signature = /<Signature.*<\/Signature>/s.exec(assertion)![0];
      const bare = assertion.replace(signature, '');
      const wrapped = signature.replace('</Signature>', `<Object>${bare}</Object></Signature>`);
      return signed.replace(assertion, renamed.replace('</saml:Issuer>', `</saml:Issuer>${wrapped}`));
    }
    case 'same id':
      return signed.replace(assertion, evil + assertion);
  }
}

/** Writes the names of algorithms in another form, which means the same also to who checks the signature. */
const writeOtherwise = (xml: string) =>
  xml.replaceAll(/ Algorithm="([^"]*)sha1"/g, (_, before: string) => ` Algorithm = '${before}&#115;ha1'`);

describe('a SAML response is refused', () => {
  const refuse = async (xml: string) => {
    expect((await post(xml)).status).toBe(403);
    expect(browser.isSignedIn).toBe(false);
    expect(await platform.query("SELECT id FROM login WHERE subject = 'evil' OR email LIKE 'evil@%x'", [])).toEqual([]);
  };

  it.each(['before', 'after', 'extension', 'inside', 'object', 'same id'] as const)(
    'when an unsigned assertion is wrapped around the signed one: %s',
    (where) => refuse(wrap(where)),
  );

  it.each<[string, Partial<SamlResponseOptions>]>([
    ['nothing is signed', { signs: 'nothing' }],
    ['only the response is signed', { signs: 'response' }],
    ['another key signed it', { signer: makeSamlSigner() }],
    ['SHA-1 signed it', { signatureAlgorithm: 'rsa-sha1' }],
    ['it has expired', { expiresInMs: -90_000 }],
    ['it is not valid yet', { notBeforeInMs: 90_000 }],
    ['it is for another audience', { audience: 'https://other.example.com' }],
    ['it is for another recipient', { recipient: 'https://other.example.com/acs' }],
    ['another issuer made it', { entityId: 'https://other.example.com' }],
    ['its subject is not confirmed', { changeAssertion: (xml) => xml.replace('cm:bearer', 'cm:sender-vouches') }],
    ['it has no end', { changeAssertion: (xml) => xml.replaceAll(/ NotOnOrAfter="[^"]*"/g, '') }],
    [
      'it has no audience',
      { changeAssertion: (xml) => xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, '') },
    ],
  ])('when %s', (_, options) => refuse(response(options)));

  it.each<[string, (xml: string) => string]>([
    ['it was changed', (xml) => xml.replace('ada@example.com', 'evil@example.com')],
    ['it has a document type', (xml) => `<!DOCTYPE x [<!ENTITY e "evil">]>${xml}`],
    ['SHA-1 signed it, and is written otherwise', () => writeOtherwise(response({ signatureAlgorithm: 'rsa-sha1' }))],
    ['it is no XML', () => 'not XML'],
    ['it is empty', () => '<x/>'],
  ])('when %s', (_, spoil) => refuse(spoil(response())));

  it('when the settings want responses to be signed, and only the assertion is', async () => {
    await change({ is_response_signed: true });
    await refuse(response());
    expect((await post(response({ signs: 'both' }))).status).toBe(303);
    await change({ is_response_signed: false });
  });
});

describe('metadata', () => {
  it('of this service provider names its entity id and where responses go', async () => {
    const { text } = await browser.visit('/auth/v1/sso/saml/metadata');
    expect(text).toContain(`entityID="${AUDIENCE}"`);
    expect(text).toContain(`Location="${RECIPIENT}"`);
    expect(text).toContain('WantAssertionsSigned="true"');
  });

  it('of the provider brings new certificates when it is given again', async () => {
    const signer = makeSamlSigner();
    served = samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer });
    await change({ metadata_url: provider.metadata_url });
    expect((await post(response())).status, 'the old key').toBe(403);
    expect((await post(response({ signer }))).status).toBe(303);
  });

  it('takes no longer to read the more elements stand beside each other', () => {
    const good = samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer: TEST_SIGNER });
    const large = good.replace('</IDPSSODescriptor>', `${'<a/>'.repeat(19_000)}</IDPSSODescriptor>`);
    const before = process.cpuUsage();
    expect(parseIdpMetadata(large)).toEqual(parseIdpMetadata(good));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });

  it('is refused with several providers, with none or many certificates, too deep, or with an unknown binding alone', () => {
    const good = samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer: TEST_SIGNER });
    expect(parseIdpMetadata(good)).toMatchObject({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso' });
    for (const bad of [
      `<all>${good}${good}</all>`,
      good.replace(/<KeyDescriptor.*<\/KeyDescriptor>/s, ''),
      good.replace('HTTP-Redirect', 'HTTP-Artifact'),
      good.replace(/(<X509Certificate>).*(<)/, '$1AAAA$2'),
      good.replace('https://idp.example.com/sso', 'javascript:alert(1)'),
      good.replace(/<KeyDescriptor.*<\/KeyDescriptor>/s, (key) => key.repeat(11)),
      good.replace('</IDPSSODescriptor>', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}</IDPSSODescriptor>`),
    ])
      expect(() => parseIdpMetadata(bad)).toThrow('metadata');
  });
});
