import { makeSamlSigner } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { checkCertificates } from './check-saml.ts';

const DAY_MS = 86_400_000;
/** Valid for two days. */
const { certificate } = makeSamlSigner();
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

it('a certificate that has ended fails the test of a provider, and one that ends soon is reported', () => {
  expect(checkCertificates([certificate], inDays(3)).outcome).toBe('failed');
  expect(checkCertificates([certificate], inDays(0)).outcome).toBe('warning');
  expect(checkCertificates([certificate], inDays(-60)).outcome).toBe('passed');
});
