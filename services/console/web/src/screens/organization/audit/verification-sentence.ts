import type { AuditLogVerification } from '@runyard/contracts';

const REASONS = {
  missing: 'is missing',
  changed: 'was changed',
  replaced: 'is another one than a signed checkpoint says',
};

/** Returns what a verification of the audit trail has found. */
export function verificationSentence(result: AuditLogVerification): string {
  const { valid, events, fault, checkpoints, removed_up_to: removed, checkpoint_removed: isCheckpointRemoved } = result;
  const found = valid
    ? `The chain of ${events} events is whole, and goes through ${checkpoints} signed checkpoints.`
    : `The chain is broken: event ${fault?.sequence} ${fault && REASONS[fault.reason]}.`;
  return [
    found,
    removed !== null && `Retention has removed events up to ${removed}.`,
    isCheckpointRemoved && 'The event of your checkpoint is among them: there is nothing to compare it with.',
  ]
    .filter(Boolean)
    .join(' ');
}
