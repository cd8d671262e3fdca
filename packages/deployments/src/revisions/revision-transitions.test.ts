import { FINAL_REVISION_STATUSES, RevisionStatus } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { mayFollow, predecessorsOf, TRANSITIONS } from './revision-transitions.ts';

const all = RevisionStatus.anyOf.map((branch) => branch.const);

/** The columns have the order of the rows; `x` means that the column may follow the row. */
const LEGAL: Record<RevisionStatus, string> = {
  //                cr qu ab bu ad de cf bf df dd sk in un
  CREATING: '       .  x  .  .  .  .  x  .  .  .  .  x  x',
  QUEUED: '         .  .  x  .  x  .  .  .  .  .  x  x  x',
  AWAITING_BUILD: ' .  .  .  x  .  .  .  .  .  .  x  x  x',
  BUILDING: '       .  .  .  .  x  .  .  x  .  .  .  x  x',
  AWAITING_DEPLOY: '.  .  .  .  .  x  .  .  .  .  .  x  x',
  DEPLOYING: '      .  .  .  .  .  .  .  .  x  x  .  x  x',
  CREATE_FAILED: '  .  .  .  .  .  .  .  .  .  .  .  .  .',
  BUILD_FAILED: '   .  .  .  .  .  .  .  .  .  .  .  .  .',
  DEPLOY_FAILED: '  .  .  .  .  .  .  .  .  .  .  .  .  .',
  DEPLOYED: '       .  .  .  .  .  .  .  .  .  .  .  .  .',
  SKIPPED: '        .  .  .  .  .  .  .  .  .  .  .  .  .',
  INTERRUPTED: '    .  .  .  .  .  .  .  .  .  .  .  .  .',
  UNKNOWN: '        x  x  x  x  x  x  x  x  x  x  x  x  .',
};
const pairs = all.flatMap((from) => {
  const row = LEGAL[from].trim().split(/\s+/);
  return all.map((to, index) => [from, to, row[index] === 'x'] as const);
});

describe('the statuses of a revision', () => {
  it('are all in the table', () => {
    expect(Object.keys(TRANSITIONS).sort()).toEqual([...all].sort());
  });

  it.each(pairs)('after %s comes %s: %s', (from, to, isLegal) => {
    expect(mayFollow(from, to)).toBe(isLegal);
  });

  it.each(FINAL_REVISION_STATUSES)('%s is never left', (status) => {
    expect(TRANSITIONS[status]).toEqual([]);
  });

  it('lead from every open status to a final one', () => {
    const reaches = (from: RevisionStatus, seen = new Set<RevisionStatus>()): boolean =>
      FINAL_REVISION_STATUSES.includes(from) ||
      (!seen.has(from) && TRANSITIONS[from].some((next) => reaches(next, new Set([...seen, from]))));
    for (const status of all) expect({ status, ends: reaches(status) }).toEqual({ status, ends: true });
  });

  it('change to SKIPPED only before the build or the start', () => {
    expect(predecessorsOf('SKIPPED').sort()).toEqual(['AWAITING_BUILD', 'QUEUED', 'UNKNOWN']);
  });

  it('change to DEPLOYED only from DEPLOYING, or from UNKNOWN', () => {
    expect(predecessorsOf('DEPLOYED').sort()).toEqual(['DEPLOYING', 'UNKNOWN']);
  });

  it('pass AWAITING_BUILD before BUILDING, or leave the build out', () => {
    expect(mayFollow('QUEUED', 'AWAITING_DEPLOY')).toBe(true);
    expect(mayFollow('QUEUED', 'BUILDING')).toBe(false);
    expect(mayFollow('BUILDING', 'DEPLOYED')).toBe(false);
  });
});
