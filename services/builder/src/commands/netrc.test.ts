import { expect, it } from 'vitest';
import { passwordsOfNetrc } from './netrc.ts';

it('the passwords of a .netrc are known one by one, however its lines are broken', () => {
  const NETRC = `# of the team
    machine pypi.example.com login ada password first-password
    machine git.example.com
      login password-of-nobody
      password "second-password"
    default login x account third-password`;
  expect(passwordsOfNetrc({ NETRC })).toEqual(['first-password', 'second-password', 'third-password']);
  expect(passwordsOfNetrc({ OTHER: 'password hidden' })).toEqual([]);
});
