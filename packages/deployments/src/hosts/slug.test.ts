import { describe, expect, it } from 'vitest';
import { distinctSlugOf, slugOf } from './slug.ts';

describe('the slug of a deployment', () => {
  it.each([
    ['hello-agent', 'hello-agent'],
    ['My Agent (v2)', 'my-agent-v2'],
    ['---', 'app'],
    ['Ünïcode', 'n-code'],
    ['x'.repeat(80), 'x'.repeat(50)],
  ])('of %j is %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it('differs for two deployments of the same name', () => {
    const [one, two] = ['0192f7a0-0000-7000-8000-00000000000a', '0192f7a0-0000-7000-8000-00000000000b'];
    expect(distinctSlugOf('app', one!)).not.toBe(distinctSlugOf('app', two!));
  });
});
