import { describe, expect, it } from 'vitest';
import { findPodOverrideFault } from './pod-overrides.ts';

const rules = { metadata: ['team', 'example.com/*'], pullSecrets: ['team-registry', `r-${'0'.repeat(32)}-pull`] };

describe("a deployment's pod fields", () => {
  it('may contain what the operator allows', () => {
    const labels = { team: 'support', 'example.com/cost-centre': '' };
    const annotations = { team: 'any text: {"a": 1}' };
    expect(
      findPodOverrideFault({ labels, annotations, image_pull_secrets: [{ name: 'team-registry' }] }, rules),
    ).toBeNull();
    expect(findPodOverrideFault({ labels: { anything: 'x' } }, { ...rules, metadata: ['*'] })).toBeNull();
    expect(findPodOverrideFault({ labels: null, cpu: 1 }, { metadata: [], pullSecrets: [] })).toBeNull();
  });

  it.each([
    ['a key that is not named', { labels: { tier: 'a' } }, 'may not have tier here'],
    [
      'a prefix that is not named',
      { annotations: { 'iam.amazonaws.com/role': 'admin' } },
      'may not have iam.amazonaws.com/role',
    ],
    ['a key of the platform', { labels: { 'io.runyard.deployment': 'x' } }, 'which is reserved'],
    ['an annotation of the platform', { annotations: { 'io.runyard/secrets': 'x' } }, 'which is reserved'],
    ['a key of Kubernetes', { labels: { 'app.kubernetes.io/managed-by': 'x' } }, 'which is reserved'],
    ['another one', { annotations: { 'k8s.io/x': 'x' } }, 'which is reserved'],
    ['what tells pods of two templates apart', { labels: { 'pod-template-hash': 'x' } }, 'which is reserved'],
    ['no key at all', { labels: { 'a b': 'x' } }, 'has no key of Kubernetes in a b'],
    ['a key with two prefixes', { labels: { 'a/b/c': 'x' } }, 'has no key of Kubernetes'],
    ['a value that is none', { labels: { team: 'two words' } }, 'has no value of a label at team'],
    ['a long value', { labels: { team: 'x'.repeat(64) } }, 'at most 63'],
    ['too much text', { annotations: { team: 'x'.repeat(300_000) } }, 'more than 262144 bytes'],
    ['a Secret that is not named', { image_pull_secrets: [{ name: 'others' }] }, 'may not name others'],
    [
      'a Secret of a deployment, whoever named it',
      { image_pull_secrets: [{ name: `r-${'0'.repeat(32)}-pull` }] },
      'may not name r-0',
    ],
  ])('must not contain %s', (_, fields, fault) => {
    const found = findPodOverrideFault(fields, { ...rules, metadata: [...rules.metadata, 'io.runyard/*', 'k8s.io/*'] });
    expect(found?.field).toBe(Object.keys(fields)[0]);
    expect(found?.message).toContain(fault);
  });
});
