import type { HandlerRequest, Principal } from '@runyard/service-kit';
import { ANONYMOUS, allowAll, INTERNAL } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { keyUser, projectUser, studioUser } from '../auth/user-caller.ts';
import { requestOrigin } from './request-origin.ts';

const KEY: Principal = { ...INTERNAL, kind: 'service_key', identity: 'identity-1', keyId: 'key-1' };
const PERSON: Principal = { ...INTERNAL, kind: 'session', identity: 'identity-2', sessionId: 'session-1' };
const ADA = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [], kind: 'service_key' };
const EVERYBODY = await allowAll().authenticate({} as never);

const OF_KEY = { kind: 'service_key', identity: 'identity-1', keyId: 'key-1' };
const OF_PERSON = { kind: 'session', identity: 'identity-2' };
const CALLERS: [who: string, caller: Principal, creator: object][] = [
  ['a key', KEY, OF_KEY],
  ['a person', { ...KEY, kind: 'personal_token' }, { ...OF_KEY, kind: 'personal_token' }],
  ['somebody signed in', PERSON, OF_PERSON],
  ['somebody signed in, in Studio', studioUser(PERSON), OF_PERSON],
  ['a key that the project lets in', keyUser(KEY), OF_KEY],
  ['a user of the project', projectUser(ADA), { kind: 'project_user', identity: 'ada' }],
  ['the code of the project', INTERNAL, { kind: 'internal', identity: '' }],
  ['nobody', ANONYMOUS, { kind: 'anonymous', identity: '' }],
  ['anybody where nobody is asked', EVERYBODY, { kind: 'service_key', identity: 'local' }],
];

it.each(CALLERS)('a run that %s makes has them as its creator, whatever the request says', (_, caller, creator) => {
  const headers = { 'x-runyard-principal': 'forged', 'x-user-id': 'forged', kind: 'session' };
  const req = { caller, headers, res: { getHeader: () => undefined } } as unknown as HandlerRequest;
  expect(requestOrigin(req, () => ({})).creator).toEqual(creator);
});
