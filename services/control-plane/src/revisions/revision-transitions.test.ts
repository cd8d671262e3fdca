import { RevisionStatus } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { mayFollow, predecessorsOf, TERMINAL, TRANSITIONS } from './revision-transitions.ts';

const all = RevisionStatus.anyOf.map((branch) => branch.const);

describe('the statuses of a revision', () => {
  it('are all in the table', () => {
    expect(Object.keys(TRANSITIONS).sort()).toEqual([...all].sort());
  });

  it.each(TERMINAL)('%s is never left', (status) => {
    expect(TRANSITIONS[status]).toEqual([]);
  });

  it('lead from every open status to an end', () => {
    const reaches = (from: RevisionStatus, seen = new Set<RevisionStatus>()): boolean =>
      TERMINAL.includes(from) ||
      (!seen.has(from) && TRANSITIONS[from].some((next) => reaches(next, new Set([...seen, from]))));
    for (const status of all) expect({ status, ends: reaches(status) }).toEqual({ status, ends: true });
  });

  it('skip only what has not begun to build or to deploy', () => {
    expect(predecessorsOf('SKIPPED').sort()).toEqual(['AWAITING_BUILD', 'QUEUED', 'UNKNOWN']);
  });

  it('become DEPLOYED only from DEPLOYING, or from a silence', () => {
    expect(predecessorsOf('DEPLOYED').sort()).toEqual(['DEPLOYING', 'UNKNOWN']);
  });

  it('build only what is built', () => {
    expect(mayFollow('QUEUED', 'AWAITING_DEPLOY')).toBe(true);
    expect(mayFollow('QUEUED', 'BUILDING')).toBe(false);
    expect(mayFollow('BUILDING', 'DEPLOYED')).toBe(false);
  });
});
