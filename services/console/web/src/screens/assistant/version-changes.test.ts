import type { AssistantVersion } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { changedParts, changesOf } from './version-changes.ts';

const FIRST: AssistantVersion = {
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  graph_id: 'echo',
  name: 'Polite',
  description: null,
  config: { configurable: { tone: 'polite' } },
  context: { tone: 'polite' },
  metadata: {},
  version: 1,
  created_at: '2026-12-01T08:30:59+00:00',
};

it('a changed context is one change, though the config has it too', () => {
  const second = { ...FIRST, version: 2, config: { configurable: { tone: 'rude' } }, context: { tone: 'rude' } };
  const changes = changesOf(second, FIRST);
  expect(changes).toEqual([{ path: ['context', 'tone'], kind: 'changed', before: 'polite', after: 'rude' }]);
  expect(changedParts(changes)).toBe('context');
});

it('the number and the time of a version are no changes', () => {
  expect(changesOf({ ...FIRST, version: 9, created_at: '2026-12-02T00:00:00+00:00' }, FIRST)).toEqual([]);
});
