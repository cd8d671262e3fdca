import type { Cron } from '@runyard/contracts';
import { expect, test } from 'vitest';
import {
  creationOf,
  draftOf,
  emptyDraft,
  faultsOfDraft,
  faultsOfRemoval,
  fieldOfSentence,
  patchOf,
} from './cron-draft.ts';

const CRON: Cron = {
  cron_id: '01a1c7e0-11a2-7b33-8c44-5d55e66f7788',
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  thread_id: null,
  on_run_completed: 'keep',
  end_time: '2027-01-01T00:00:30.000000+00:00',
  schedule: '0 9 * * *',
  timezone: 'Europe/Berlin',
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
  user_id: '',
  payload: {
    assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
    schedule: '0 9 * * *',
    input: { topic: 'news' },
    webhook: 'https://hooks.example.com/',
    enabled: true,
    metadata: { team: 'blue' },
    interrupt_before: ['node'],
    config: { tags: ['a'], configurable: { cron_id: '01a1c7e0-11a2-7b33-8c44-5d55e66f7788' } },
  },
  next_run_date: null,
  metadata: { team: 'blue' },
  enabled: true,
  is_enabled: true,
};

test('a cron that nobody changed is sent nowhere, though its end has seconds that a field does not show', () => {
  expect(patchOf(CRON, draftOf(CRON))).toBeUndefined();
});

test('only what differs is sent, and fields without a field of their own go by their names', () => {
  const draft = { ...draftOf(CRON), schedule: ' @daily ', endTime: '', timezone: '', more: { interrupt_before: '*' } };
  expect(patchOf(CRON, draft)).toEqual({
    schedule: '@daily',
    end_time: null,
    timezone: null,
    interrupt_before: '*',
  });
});

test('the id that the platform adds to the config of a cron is not shown as one that a person wrote', () => {
  expect(draftOf(CRON).more).toEqual({ interrupt_before: ['node'], config: { tags: ['a'] } });
});

test('the arguments of a cron that cannot be decrypted are left as they are', () => {
  const secret = { ...CRON, payload: { __error__: { error: 'Undecryptable', message: '' } } };
  expect(patchOf(secret, { ...draftOf(secret), schedule: '@weekly' })).toEqual({ schedule: '@weekly' });
});

test('a cron of a thread says nothing of what becomes of threads', () => {
  const draft = { ...emptyDraft('echo', 'UTC'), schedule: '@daily' };
  expect(creationOf(draft)).toEqual({
    threadId: undefined,
    body: { assistant_id: 'echo', schedule: '@daily', timezone: 'UTC', on_run_completed: 'delete' },
  });
  expect(creationOf({ ...draft, thread: ` ${CRON.cron_id} `, isEnabled: false })).toEqual({
    threadId: CRON.cron_id,
    body: { assistant_id: 'echo', schedule: '@daily', timezone: 'UTC', enabled: false },
  });
});

test('what the form can know to be wrong is said at its field', () => {
  const draft = { ...emptyDraft('', 'UTC'), thread: 'a thread', metadata: 3, more: { webhook: 'x' } };
  expect([...faultsOfDraft(draft).keys()]).toEqual(['assistant', 'schedule', 'thread', 'metadata', 'more']);
});

test('nobody believes to have taken away what the platform keeps', () => {
  const draft = { ...draftOf(CRON), webhook: '', metadata: undefined, more: { config: { tags: ['a'] } } };
  expect([...faultsOfRemoval(CRON, draft)]).toEqual([
    ['webhook', expect.any(String)],
    ['metadata', 'Keys cannot be taken away: team'],
    ['more', 'Keys cannot be taken away: interrupt_before'],
  ]);
});

test('a refusal of the platform stands at the field that it is about', () => {
  expect(fieldOfSentence("Invalid cron schedule: 'x'. Reason: it is none")).toBe('schedule');
  expect(fieldOfSentence("Invalid timezone: 'x'. Must be an IANA name")).toBe('timezone');
  expect(fieldOfSentence('Webhook host blocked: localhost address')).toBe('webhook');
  expect(fieldOfSentence('end_time must be a valid iso-date-time')).toBe('endTime');
  expect(fieldOfSentence("Thread with ID 'x' not found.")).toBe('thread');
  expect(fieldOfSentence('multitask_strategy must be one of "reject"')).toBe('more');
  expect(fieldOfSentence('Something else')).toBeUndefined();
});
