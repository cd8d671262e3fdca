import { randomBytes } from 'node:crypto';

/** The variable with what the unique names of one test run begin with. Test processes inherit it. */
export const runVariable = 'RUNYARD_TEST_RUN';

/** Returns a name that no other test has, and that shows the run it belongs to. */
export function uniqueName(bytes: number): string {
  return `${process.env[runVariable] ?? ''}${randomBytes(bytes).toString('hex')}`;
}
