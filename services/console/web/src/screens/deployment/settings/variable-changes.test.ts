import type { Deployment } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { draftFaults, draftsOf, type VariableDraft, variablesPatch } from './variable-changes.ts';

const deployment = {
  secrets: [
    { name: 'MODEL_KEY', value: 'a' },
    { name: 'REGION', value: 'eu' },
  ],
  secret_references: [{ name: 'TOKEN', secret_name: 'workspace-secrets', secret_key: 'TOKEN' }],
} as Deployment;
const value = (name: string, text: string): VariableDraft => ({ key: name, kind: 'value', name, value: text });

test('drafts that change nothing send nothing, in whatever order they are', () => {
  expect(variablesPatch(deployment, draftsOf(deployment)!.toReversed())).toBeUndefined();
});

test('a changed value sends all values, because the list replaces the set, and no references', () => {
  const drafts = draftsOf(deployment)!.map((draft) => (draft.name === 'REGION' ? value('REGION', 'us') : draft));
  expect(variablesPatch(deployment, drafts)).toEqual({
    secrets: [
      { name: 'MODEL_KEY', value: 'a' },
      { name: 'REGION', value: 'us' },
    ],
  });
});

test('the last removed value sends an empty list', () => {
  const drafts = draftsOf(deployment)!.filter(({ kind }) => kind === 'reference');
  expect(variablesPatch(deployment, drafts)).toEqual({ secrets: [] });
});

test('a value that becomes a reference changes both lists', () => {
  const drafts: VariableDraft[] = [
    ...draftsOf(deployment)!.filter(({ name }) => name !== 'MODEL_KEY'),
    { key: 'new', kind: 'reference', name: 'MODEL_KEY', secret_name: 'models', secret_key: 'key' },
  ];
  expect(variablesPatch(deployment, drafts)).toEqual({
    secrets: [{ name: 'REGION', value: 'eu' }],
    secret_references: [
      { name: 'TOKEN', secret_name: 'workspace-secrets', secret_key: 'TOKEN' },
      { name: 'MODEL_KEY', secret_name: 'models', secret_key: 'key' },
    ],
  });
});

test('whoever may not read the values has no drafts, so that nothing is replaced by nothing', () => {
  expect(draftsOf({ ...deployment, secrets: null })).toBeNull();
});

test('a name that is wrong or there twice, and a reference to nothing, are refused', () => {
  const faults = draftFaults([
    value('1A', ''),
    { ...value('REGION', 'eu'), key: 'one' },
    { ...value('REGION', 'us'), key: 'two' },
    { key: 'three', kind: 'reference', name: 'TOKEN', secret_name: '', secret_key: 'a' },
  ]);
  expect([...faults.keys()]).toEqual(['1A', 'two', 'three']);
});
