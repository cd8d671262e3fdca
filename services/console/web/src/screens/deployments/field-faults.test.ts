import { expect, test } from 'vitest';
import { PlatformError } from '../../platform/ask.ts';
import { faultsByField } from './field-faults.ts';

const FIELDS = ['name', 'source_config.repo_url'];

test('a fault with the path of a field stands beside that field', () => {
  const { byField, rest } = faultsByField(new PlatformError(422, 'name: Value must not be empty; other: No'), FIELDS);
  expect([...byField]).toEqual([['name', 'Value must not be empty']]);
  expect(rest).toBe('other: No');
});

test('a refusal that names a field in its sentence stands beside that field', () => {
  const sentence = "Source configuration error: 'source_config.repo_url': Repository URL must begin with https://.";
  expect(faultsByField(new PlatformError(400, sentence), FIELDS)).toEqual({
    byField: new Map([['source_config.repo_url', sentence]]),
    rest: undefined,
  });
});

test('what belongs to no field is shown for the whole form', () => {
  expect(faultsByField(new PlatformError(409, 'The name is taken.'), FIELDS).rest).toBe('The name is taken.');
});
