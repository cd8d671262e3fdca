import { expect, it } from 'vitest';
import { refuseUnmetProtection } from './refused-settings.ts';

const handler = { file: '/project/auth.ts', symbol: 'auth' };
const plain = { auth: null, encryption: null };

it('a project is refused that asks for protection which is not available, and the error names what asks for it', () => {
  expect(() => refuseUnmetProtection({ ...plain, auth: handler })).toThrow(/"auth.path" asks for custom auth/);
  expect(() => refuseUnmetProtection({ ...plain, encryption: handler })).toThrow(/"encryption.path".*plain text/);
});

it('any other project starts', () => {
  expect(() => refuseUnmetProtection(plain)).not.toThrow();
});
