import { expect, it } from 'vitest';
import type { LinkedManifest } from '../stored-images/linked-manifests.ts';
import { findGarbageManifests } from './garbage-manifests.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const uri = (version: string) => `agents.example.com/registry/0190b7a0-0000-7000-8000-000000000000/my/agent${version}`;

function manifest(letter: string, more: Partial<LinkedManifest> = {}): LinkedManifest {
  return { repository: 'my/agent', digest: digest(letter), parts: [], blobs: [], subject: null, ...more };
}

function findGarbage(
  manifests: LinkedManifest[],
  named: { kept?: string[]; old?: string[] },
  tagged: string[] = [],
): string[] {
  const tags = tagged.map((letter) => ({ repository: 'my/agent', tag: `tag-${letter}`, digest: digest(letter) }));
  const { kept = [], old = [] } = named;
  const garbage = findGarbageManifests({ manifests, tags }, { kept: kept.map(uri), old: old.map(uri) });
  return [...garbage].map((each) => each.digest[7]!).sort();
}

it('an image that only old revisions name is removed with all its dependents', () => {
  const manifests = [
    manifest('1', { parts: [digest('2')] }),
    manifest('2'),
    manifest('3', { subject: digest('2') }),
    manifest('4', { subject: digest('3') }),
    manifest('5'),
  ];
  expect(findGarbage(manifests, { old: [`@${digest('1')}`] })).toEqual(['1', '2', '3', '4']);
});

it.each(['', ':latest'])('a name with a tag (%s) and a digest means the digest', (tag) => {
  const manifests = [manifest('1'), manifest('2')];
  const old = [`@${digest('1')}`, `@${digest('2')}`];
  expect(findGarbage(manifests, { old, kept: [`${tag}@${digest('1')}`] })).toEqual(['2']);
});

it('an image with a tag stays, with its parts and its referrers', () => {
  const manifests = [manifest('1', { parts: [digest('2')] }), manifest('2'), manifest('3', { subject: digest('1') })];
  expect(findGarbage(manifests, { old: [`@${digest('1')}`, `@${digest('2')}`] }, ['1'])).toEqual([]);
});

it('a list that no revision has named yet keeps the images that it shares with an old one', () => {
  const manifests = [
    manifest('1', { parts: [digest('2'), digest('3')] }),
    manifest('2'),
    manifest('3'),
    manifest('4', { parts: [digest('3')] }),
  ];
  expect(findGarbage(manifests, { old: [`@${digest('1')}`] })).toEqual(['1', '2']);
});
