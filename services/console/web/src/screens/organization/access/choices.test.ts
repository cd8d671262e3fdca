import type { ApiKey, OrgMember, ServiceAccount } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { identityChoices, keyChoices, questionOf, withChosen } from './choices.ts';

const key = (id: string, account: string | null, change: Partial<ApiKey> = {}) =>
  ({ id, short_key: `sk_${id}`, description: '', read_only: false, service_account_id: account, ...change }) as ApiKey;
const ada = { id: 'ada', email: 'ada@example.com', full_name: 'Ada' } as OrgMember;
const account = { id: 'a1', name: 'CI' } as ServiceAccount;
const place = { workspaceId: 'w1', workspaceIds: ['w1', 'w2'], isOfOrganization: false };

it('an account is named once, whichever keys it has', () => {
  const keys = [key('k1', 'a1'), key('k2', 'a2', { description: 'Cron' }), key('k3', 'a2')];
  expect(identityChoices([ada], [account], keys)).toEqual([
    { value: 'ada', label: 'Ada (ada@example.com)' },
    { value: 'a1', label: 'Service account CI' },
    { value: 'a2', label: 'Service key Cron (sk_k2)' },
  ]);
  expect(identityChoices([], [account], keys, 'cron').map(({ value }) => value)).toEqual(['a2']);
});

it('who is asked about stays among the choices that a search leaves', () => {
  const bob = { value: 'bob', label: 'Bob' };
  expect(withChosen([bob], { value: 'ada', label: 'Ada' })).toEqual([{ value: 'ada', label: 'Ada' }, bob]);
  expect(withChosen([bob], { value: 'bob', label: 'The name that the answer has' })).toEqual([bob]);
  expect(withChosen([bob], undefined)).toEqual([bob]);
});

it('people have their own tokens, and accounts the keys that are made for them', () => {
  const own = { identity: 'ada', tokens: [key('t1', null, { read_only: true })] };
  const keys = [key('k1', 'a1'), key('k2', 'a2')];
  expect(keyChoices('ada', own, keys)).toEqual([{ value: 't1', label: 'sk_t1, only reads' }]);
  expect(keyChoices('a2', own, keys).map(({ value }) => value)).toEqual(['k2']);
  expect(keyChoices('bob', own, keys)).toEqual([]);
});

it('a question names the workspace of a deployment, and no resource for a permission of the organization', () => {
  const chosen = { identity: 'ada', key: undefined, permission: 'runs:create', resource: 'w2' };
  expect(questionOf(chosen, place)).toEqual({ identity: 'ada', permission: 'runs:create', resource: 'w2' });
  expect(questionOf({ ...chosen, resource: 'd1', key: 'k1' }, place)).toEqual({
    identity: 'ada',
    permission: 'runs:create',
    resource: 'd1',
    workspace_id: 'w1',
    api_key_id: 'k1',
  });
  expect(questionOf(chosen, { ...place, isOfOrganization: true })).not.toHaveProperty('resource');
});
