import { expect, it } from 'vitest';
import { USER_TYPE } from '../schemas/resource-type.ts';
import { applyPatch } from './apply-patch.ts';
import type { ScimObject } from './normalize.ts';
import type { PatchOperation } from './patch-request.ts';

const patch = (resource: ScimObject, ...operations: PatchOperation[]) => applyPatch(USER_TYPE, resource, operations);
const op = (name: PatchOperation['op'], path: string | null, value?: unknown): PatchOperation => ({
  op: name,
  path,
  value,
});
const emails = (count: number, domain = 'example.com') =>
  Array.from({ length: count }, (_, index) => ({ value: `${index}@${domain}` }));
const refusal = (scimType: string) => expect.objectContaining({ body: expect.objectContaining({ scimType }) });

it('an attribute has at most 200 values, whether they come at once, one after the other, or by the filter of a path', () => {
  const full = { emails: emails(200) };
  expect(patch({}, op('add', 'emails', full.emails)).emails).toHaveLength(200);
  const ways: [ScimObject, ...PatchOperation[]][] = [
    [{}, op('replace', 'emails', emails(201))],
    [{}, op('add', null, { emails: emails(201) })],
    [full, op('add', 'emails', [{ value: 'one.more@example.com' }]), op('remove', 'emails[value eq "1@example.com"]')],
    [full, op('add', 'emails[type eq "home"].value', 'one.more@example.com')],
  ];
  for (const [resource, ...operations] of ways)
    expect(() => patch(resource, ...operations)).toThrow(refusal('invalidValue'));
});

it('a PATCH of more than 200 changes or 500 comparisons is refused, wherever they stand', () => {
  const names = Array.from({ length: 201 }, (_, index) =>
    [...'displayname'].map((letter, bit) => ((index >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  const change = Object.fromEntries(names.map((name) => [name, 'Ada']));
  expect(Object.keys(change)).toHaveLength(201);
  const comparisons = Array.from({ length: 99 }, () => 'type pr').join(' or ');
  const filtered = Array.from({ length: 6 }, () => op('remove', `emails[${comparisons}]`));
  for (const operations of [[op('add', null, change)], filtered])
    expect(() => patch({}, ...operations)).toThrow(refusal('tooMany'));
  expect(patch({ displayName: 'Ada' }, ...filtered.slice(1))).toEqual({ displayName: 'Ada' });
});

it('a value counts once, in whatever order its parts come, and is removed by its value or whole', () => {
  const [home, work] = [
    { value: 'ada@home.example', type: 'home' },
    { value: 'ada@work.example', type: 'work' },
  ];
  const again = { type: 'home', value: 'ada@home.example' };
  expect(patch({ emails: [home] }, op('add', 'emails', [again, work])).emails).toEqual([home, work]);
  const kinds = { ims: [{ type: 'a', display: 'x' }, { type: 'b' }], phoneNumbers: [home, work] };
  const removed = patch(
    kinds,
    op('remove', 'phoneNumbers', [{ value: 'ada@home.example' }]),
    op('remove', 'ims', [{ display: 'x', type: 'a' }, { type: 'c' }]),
  );
  expect(removed).toEqual({ ims: [{ type: 'b' }], phoneNumbers: [work] });
});

it('null removes, so that what is required cannot be null: nobody is let in again by it', () => {
  const off = { active: false, userName: 'ada', title: 'x' };
  for (const change of [
    op('replace', 'active', null),
    op('add', null, { active: null }),
    op('replace', 'userName', null),
  ])
    expect(() => patch(off, change)).toThrow(refusal('mutability'));
  expect(patch(off, op('replace', 'title', null))).toEqual({ active: false, userName: 'ada' });
});
