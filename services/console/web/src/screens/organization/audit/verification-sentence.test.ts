import type { AuditLogVerification } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { verificationSentence } from './verification-sentence.ts';

const WHOLE: AuditLogVerification = {
  valid: true,
  events: 21,
  fault: null,
  removed_up_to: null,
  checkpoints: 1,
  checkpoint_removed: false,
  checkpoint: null,
  keys: [],
};

it('a broken chain says at which event, and how', () => {
  const broken = { ...WHOLE, valid: false, fault: { sequence: 7, reason: 'changed' as const } };
  expect(verificationSentence(broken)).toBe('The chain is broken: event 7 was changed.');
});

it('a checkpoint that could not be compared is not passed over in silence', () => {
  const sentence = verificationSentence({ ...WHOLE, removed_up_to: 5, checkpoint_removed: true });
  expect(sentence).toContain('is whole');
  expect(sentence).toContain('nothing to compare it with');
});
