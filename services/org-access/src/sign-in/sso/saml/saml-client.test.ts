import { makeSamlResponse, makeSamlSigner, samlMetadataOf } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import type { SsoProvider } from '../../../generated/client.ts';
import type { SsoUrls } from '../../../sso-urls.ts';
import { SamlClient } from './saml-client.ts';
import { parseSamlResponse } from './saml-response.ts';

const ENTITY = 'https://idp.example.com/metadata';
const CONSUMER = 'https://runyard.example/acs';
const REQUEST = '_request';

const signer = makeSamlSigner();
const provider = {
  id: 'provider',
  updatedAt: new Date(0),
  metadata: samlMetadataOf({ entityId: ENTITY, signInUrl: 'https://idp.example.com/sso', signer }),
  configuration: { metadataUrl: null, entityId: ENTITY, isResponseSigned: false, idpInitiatedEnabled: false },
} as unknown as SsoProvider;
const client = new SamlClient({ urls: { samlEntityId: 'runyard', samlConsumer: CONSUMER } as SsoUrls });

const GROUPS = Array.from({ length: 1_000 }, (_, index) => `group ${index}`);
const responseWith = (groups: string[]) =>
  makeSamlResponse({
    entityId: ENTITY,
    signer,
    recipient: CONSUMER,
    audience: 'runyard',
    nameId: 'ada',
    inResponseTo: REQUEST,
    attributes: { groups },
  });
const signed = responseWith([]);
const read = async (xml: string) =>
  client.readResponse(provider, parseSamlResponse(Buffer.from(xml).toString('base64')), REQUEST);
/** Puts something into a signed response, where its signature says nothing about it. */
const beside = (junk: string) => signed.replace('</samlp:Response>', `${junk}</samlp:Response>`);
const inside = (junk: string) => signed.replace('<saml:Subject>', `${junk}<saml:Subject>`);

/** The least of them is what a response costs: the process has other work, and compiles what it runs first. */
const TAKES = 3;

it('a person may be in a thousand groups', async () => {
  expect((await read(responseWith(GROUPS))).attributes).toEqual({ groups: GROUPS });
});

it.each<[string, (count: number) => string, number]>([
  ['elements', (count) => beside('<a/>'.repeat(count)), 980],
  ['elements and texts', (count) => beside('<a/> '.repeat(count)), 480],
  ['comments', (count) => beside('<!---->'.repeat(count)), 980],
  ['comments where it is signed', (count) => inside('<!---->'.repeat(count)), 980],
  ['elements where it is signed', (count) => inside('<a/>'.repeat(count)), 980],
  ['attributes', (count) => beside(`<a ${Array.from({ length: count }, (_, at) => `a${at}=""`).join(' ')}/>`), 3_900],
  ['attributes without spaces', (count) => beside(`<a ${'b=""'.repeat(count)}/>`), 3_900],
  ['attributes without quotes', (count) => beside(`<a ${'b=c '.repeat(count)}/>`), 3_900],
])('a stranger’s response with many %s is refused, or takes less than a second', async (_, shape, count) => {
  await expect(read(shape(20_000))).rejects.toThrow('not valid');
  const costs: number[] = [];
  for (let take = 0; take < TAKES; take += 1) {
    const before = process.cpuUsage();
    await read(shape(count)).catch(() => undefined);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1_000);
  }
  expect(Math.min(...costs)).toBeLessThan(1_000);
});
