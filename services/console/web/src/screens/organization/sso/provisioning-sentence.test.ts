import { expect, it } from 'vitest';
import { provisioningSentence } from './provisioning-sentence.ts';

const effective = { jit_provisioning_enabled: false, invites_enabled: true };

it('a switch without effect is not shown as one that has it', () => {
  const on = { jit_provisioning_enabled: true, effective };
  expect(provisioningSentence({ ...on, default_sso_provision: true })).toContain('the installation forbids it');
  expect(provisioningSentence({ ...on, default_sso_provision: false })).toContain('default organization');
  expect(
    provisioningSentence({ jit_provisioning_enabled: false, default_sso_provision: true, effective }),
  ).not.toContain(':');
});
