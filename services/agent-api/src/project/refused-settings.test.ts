import { expect, it } from 'vitest';
import { refuseUnmetProtection } from './refused-settings.ts';

const handler = { file: '/project/auth.ts', symbol: 'auth' };
const plain = { auth: null, encryption: null };
const refuse =
  (...[project, keys = {}]: Partial<Parameters<typeof refuseUnmetProtection>>) =>
  () =>
    refuseUnmetProtection(project ?? plain, keys);

it('a project with users of its own is refused where nothing would encrypt them', () => {
  expect(refuse({ ...plain, auth: handler })).toThrow('"auth.path" needs the variable LANGGRAPH_AES_KEY');
  expect(refuse({ ...plain, auth: handler }, { aesKey: 'k' })).not.toThrow();
  expect(refuse({ ...plain, auth: handler }, { platformKeys: 'k' })).not.toThrow();
  expect(refuse({ auth: handler, encryption: handler })).not.toThrow();
});

it('any other project starts', () => {
  expect(refuse(plain)).not.toThrow();
  expect(refuse(plain, { aesKey: 'k' })).not.toThrow();
  expect(refuse({ ...plain, encryption: handler })).not.toThrow();
});
