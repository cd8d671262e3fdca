import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CASES } from './cases/index.ts';
import { computeCoverage } from './framework/coverage.ts';
import { getOperation } from './framework/operations.ts';
import { requestFields } from './framework/request-fields.ts';
import { PARITY_TABLE, renderParityTable } from './table.ts';
import { OMISSIONS } from './upstream/omissions.ts';
import { findMissing, findOmissionReason, UPSTREAM } from './upstream/upstream.ts';

describe('the agent server API', () => {
  it.each(computeCoverage(CASES).map((each) => [each.operation.operationId, each] as const))(
    '%s: every field and every answer is shown by a test',
    (_, { fields, statuses }) => {
      const unshown = [...fields, ...statuses].filter(([, shown]) => shown.length === 0).map(([what]) => what);
      expect(unshown).toEqual([]);
    },
  );

  it('has every operation, field and answer that other agent servers have, or a reason why not', () => {
    const unexplained = UPSTREAM.flatMap((each) => {
      const missing = findMissing(each) ?? [undefined];
      return missing
        .filter((what) => findOmissionReason(each.operation, what) === undefined)
        .map((what) => `${each.operation} ${what ?? ''}`);
    });
    expect(unexplained).toEqual([]);
  });

  it('omits nothing that it has', () => {
    const there = OMISSIONS.flatMap(({ operations, what = [undefined] }) =>
      operations.flatMap((operation) => {
        const upstream = UPSTREAM.find((each) => each.operation === operation);
        const missing: (string | number | undefined)[] = upstream ? (findMissing(upstream) ?? [undefined]) : [];
        return what.filter((each) => !missing.includes(each)).map((each) => `${operation} ${each ?? ''}`);
      }),
    );
    expect(there).toEqual([]);
  });

  it('has every field that a case claims to show', () => {
    const claimed = CASES.flatMap(({ cases }) =>
      cases.flatMap((each) => (each.kind === 'field' ? each.operations.map((id) => [id, each.field] as const) : [])),
    );
    const unknown = claimed.filter(([id, field]) => !requestFields(getOperation(id)).includes(field));
    expect(unknown).toEqual([]);
  });

  it('has the tests of the services that cases refer to', () => {
    for (const each of CASES.flatMap(({ cases }) => cases)) {
      if (each.kind !== 'elsewhere') continue;
      expect(readFileSync(path.resolve(import.meta.dirname, '../..', each.test), 'utf8')).toContain(each.promise);
    }
  });

  it('has a parity table that is true', async () => {
    await expect(renderParityTable()).toMatchFileSnapshot(PARITY_TABLE);
  });
});
