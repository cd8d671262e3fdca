import { digestOf, LIST_TYPE, MANIFEST_TYPE, manifestOf, referrerOf } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type PushedTo, TestRegistry } from './support/test-registry.ts';

const CONFIG = Buffer.from('{}');
const SIGNATURE = 'application/vnd.example.signature';
const NOWHERE = digestOf(Buffer.from('never pushed'));

let test: TestRegistry;
beforeAll(async () => {
  test = await TestRegistry.open({
    blobLimitBytes: 1_000_000,
    max: { deployment: 6_000_000 },
  });
});
afterAll(() => test?.close());

interface Descriptor {
  digest: string;
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
}

const saying = (subject: string, more?: object) => referrerOf(subject, CONFIG, more);

async function pushed({ repository, push }: PushedTo, manifest: Buffer): Promise<Response> {
  await push.pushBlob(repository, [CONFIG]);
  return push.putManifest(repository, digestOf(manifest), manifest);
}

/** Returns all pages. */
async function referrers({ repository, push }: PushedTo, subject: string, query = ''): Promise<Descriptor[][]> {
  const pages: Descriptor[][] = [];
  for (let next: string | undefined = `/v2/${repository}/referrers/${subject}${query}`; next !== undefined; ) {
    const answer = await push.send('GET', next);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, LIST_TYPE]);
    expect(answer.headers.get('oci-filters-applied')).toBe(query === '' ? null : 'artifactType');
    const index = (await answer.json()) as { schemaVersion: number; mediaType: string; manifests: Descriptor[] };
    expect(index).toMatchObject({ schemaVersion: 2, mediaType: LIST_TYPE });
    pages.push(index.manifests);
    next = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return pages;
}

describe('the referrers of an image', () => {
  it('are found by the digest of the image, all of them and by type, also when they were pushed first', async () => {
    const place = await test.deployment();
    const subject = digestOf(
      manifestOf(Buffer.from('{"architecture":"amd64","os":"linux"}'), [Buffer.from('a layer')]),
    );
    const signature = saying(subject, { artifactType: SIGNATURE, annotations: { 'org.example.by': 'ada' } });
    const answer = await pushed(place, signature);
    expect([answer.status, answer.headers.get('oci-subject')]).toEqual([201, subject]);
    expect(await place.push.pushImage(place.repository, 'latest')).toBe(subject);
    const other = saying(subject);
    await pushed(place, other);

    const described = {
      mediaType: MANIFEST_TYPE,
      digest: digestOf(signature),
      size: signature.length,
      artifactType: SIGNATURE,
      annotations: { 'org.example.by': 'ada' },
    };
    const [all] = await referrers(place, subject);
    expect(all).toHaveLength(2);
    expect(all).toContainEqual(described);
    // The artifact type of a manifest without one is that of its configuration.
    expect(all).toContainEqual(
      expect.objectContaining({ digest: digestOf(other), artifactType: 'application/vnd.oci.image.config.v1+json' }),
    );
    expect(await referrers(place, subject, `?artifactType=${encodeURIComponent(SIGNATURE)}`)).toEqual([[described]]);
  });

  it('are none for an unknown image, and never those of another image or deployment', async () => {
    const [place, other] = [await test.deployment(), await test.deployment()];
    expect(await referrers(place, NOWHERE)).toEqual([[]]);
    await pushed(place, saying(NOWHERE));
    expect(await referrers(place, NOWHERE, '?artifactType=%00')).toEqual([[]]);
    expect(await referrers({ ...place, repository: `${place.repository}-two` }, NOWHERE)).toEqual([[]]);
    expect(await referrers(other, NOWHERE)).toEqual([[]]);
    expect(await errorOf(await other.push.send('GET', `/v2/${place.repository}/referrers/${NOWHERE}`))).toEqual([
      403,
      'DENIED',
    ]);
  });

  it('come in pages that are not larger than a manifest may be', async () => {
    const place = await test.deployment();
    const manifests = ['a', 'b', 'c'].map((letter) =>
      saying(NOWHERE, { annotations: { text: letter.repeat(1_600_000) } }),
    );
    for (const manifest of manifests) expect((await pushed(place, manifest)).status).toBe(201);
    const pages = await referrers(place, NOWHERE);
    expect(pages.map((page) => page.length)).toEqual([2, 1]);
    expect(pages.flat().map(({ digest }) => digest)).toEqual(manifests.map((bytes) => digestOf(bytes)).sort());
  });
});

describe('a manifest', () => {
  it.each<[string, object]>([
    ['with an invalid artifact type', { artifactType: 'a\0b' }],
    ['whose subject is no digest', { subject: { digest: 'latest' } }],
    ['whose annotations are no text', { annotations: { a: 1 } }],
    ['of another type than it was sent as', { mediaType: LIST_TYPE }],
  ])('%s is refused', async (_, more) => {
    const place = await test.deployment();
    expect(await errorOf(await pushed(place, saying(NOWHERE, more)))).toEqual([400, 'MANIFEST_INVALID']);
  });
});
