import { UnavailableError } from '@runyard/service-kit';

/** Somebody resumes the deployment by hand, so that trying again at once is of no use. */
const RETRY_AFTER_SECONDS = 30;

/** The deployment is halted: no run is created until it is resumed. Nothing was changed. */
export class HaltedError extends UnavailableError {
  constructor(reason: string) {
    super(haltMessage(reason), { retryAfterSeconds: RETRY_AFTER_SECONDS, code: 'deployment_halted' });
  }
}

/** Returns what clients are shown of a halt. */
export function haltMessage(reason: string): string {
  return `The deployment is halted: ${reason}`;
}
