import type { Assistant } from '@runyard/contracts';
import { expect, it } from 'vitest';
import {
  creationOf,
  draftOf,
  EMPTY_DRAFT,
  faultsOfDraft,
  fieldOfSentence,
  keptKeys,
  patchOf,
} from './assistant-request.ts';

const ASSISTANT: Assistant = {
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  graph_id: 'echo',
  name: 'Polite',
  description: null,
  config: { configurable: { tone: 'polite' }, recursion_limit: 7 },
  context: { tone: 'polite' },
  metadata: { team: 'blue' },
  version: 3,
  created_at: '2026-12-01T08:30:59+00:00',
  updated_at: '2026-12-01T08:30:59+00:00',
};

it('an assistant that is not changed makes no version', () => {
  expect(patchOf(ASSISTANT, draftOf(ASSISTANT))).toBeUndefined();
});

it('only what was changed is sent', () => {
  const draft = draftOf(ASSISTANT);
  expect(patchOf(ASSISTANT, { ...draft, name: 'Rude ' })).toEqual({ name: 'Rude' });
  expect(patchOf(ASSISTANT, { ...draft, context: { tone: 'rude' } })).toEqual({ context: { tone: 'rude' } });
  expect(patchOf({ ...ASSISTANT, description: 'Kind' }, draft)).toEqual({ description: null });
});

it('a changed config does not take the context with it', () => {
  const draft = { ...draftOf(ASSISTANT), config: undefined };
  expect(patchOf(ASSISTANT, draft)).toEqual({ config: {}, context: { tone: 'polite' } });
});

it('a context is written in one place', () => {
  expect([...faultsOfDraft({ ...EMPTY_DRAFT, name: 'a', config: { configurable: {} } }).keys()]).toEqual(['config']);
  expect([...faultsOfDraft({ ...EMPTY_DRAFT, name: 'a', context: [], metadata: 3 }).keys()]).toEqual([
    'context',
    'metadata',
  ]);
});

it('keys of the metadata that are taken away stay, and are named', () => {
  expect(keptKeys(ASSISTANT, { ...draftOf(ASSISTANT), metadata: undefined })).toEqual(['team']);
});

it('a new assistant has what was written', () => {
  const draft = { ...EMPTY_DRAFT, graph: 'echo', name: ' Polite ', context: { tone: 'polite' } };
  expect(creationOf(draft)).toEqual({ graph_id: 'echo', name: 'Polite', context: { tone: 'polite' } });
});

it('what the platform refuses stands at its field', () => {
  expect(fieldOfSentence('config.recursion_limit must be an integer')).toBe('config');
  expect(fieldOfSentence('graph_id: must be a string')).toBe('graph');
  expect(fieldOfSentence("Graph 'nope' not found")).toBeUndefined();
});
