import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CASES } from './cases/index.ts';
import { coverage } from './framework/coverage.ts';
import { operationNamed } from './framework/operations.ts';
import { requestFields } from './framework/request-fields.ts';
import { PARITY_TABLE, parityTable } from './table.ts';

describe('the agent server API', () => {
  it.each(coverage(CASES).map((each) => [each.operation.operationId, each] as const))(
    '%s: every field and every answer is shown by a test',
    (_, { fields, statuses }) => {
      const unshown = [...fields, ...statuses].filter(([, shown]) => shown.length === 0).map(([what]) => what);
      expect(unshown).toEqual([]);
    },
  );

  it('has every field that a case claims to show', () => {
    const claimed = CASES.flatMap(({ cases }) =>
      cases.flatMap((each) => (each.kind === 'field' ? each.operations.map((id) => [id, each.field] as const) : [])),
    );
    const unknown = claimed.filter(([id, field]) => !requestFields(operationNamed(id)).includes(field));
    expect(unknown).toEqual([]);
  });

  it('has the tests of the services that cases refer to', () => {
    for (const each of CASES.flatMap(({ cases }) => cases)) {
      if (each.kind !== 'elsewhere') continue;
      expect(readFileSync(path.resolve(import.meta.dirname, '../..', each.test), 'utf8')).toContain(each.promise);
    }
  });

  it('has a parity table that is true', async () => {
    await expect(parityTable()).toMatchFileSnapshot(PARITY_TABLE);
  });
});
