import { expect, it } from 'vitest';
import { makeFreeSlug } from './first-login-slug.ts';

it('a login slug is made from the name, and gets digits until no organization has or had it', async () => {
  const taken = new Set(['acme', 'acme-a', 'acme-b', 'organization-a']);
  const make = (name: string) => {
    const digits = ['a', 'b', 'c'];
    return makeFreeSlug(
      name,
      async (slug) => !taken.has(slug),
      () => digits.shift()!,
    );
  };
  expect(await make('Babbage & Co.')).toBe('babbage-co');
  expect(await make('ACME')).toBe('acme-c');
  expect(await make('東京')).toBe('organization-b');
});
