import type { SsoCheck } from '@runyard/contracts';

/** Makes the parts of the answer about a provider that is tested. */
export const passed = (check: SsoCheck['check'], detail: string): SsoCheck => ({ check, outcome: 'passed', detail });
export const warning = (check: SsoCheck['check'], detail: string): SsoCheck => ({ check, outcome: 'warning', detail });
export const failed = (check: SsoCheck['check'], detail: string): SsoCheck => ({ check, outcome: 'failed', detail });
export const skipped = (check: SsoCheck['check']): SsoCheck => ({
  check,
  outcome: 'skipped',
  detail: 'Not checked, because of what failed before.',
});
