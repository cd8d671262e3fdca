import path from 'node:path';
import { AGENT_SERVER_LEVEL } from '@runyard/contracts';
import { CASES } from './cases/index.ts';
import { computeCoverage, type ShownBy } from './framework/coverage.ts';
import { findMissing, findOmissionReason, UPSTREAM } from './upstream/upstream.ts';

export const PARITY_TABLE = path.resolve(import.meta.dirname, '../../docs/parity.md');

/** Returns the Markdown that says for every operation, field and answer which test shows it. */
export function renderParityTable(): string {
  const operations = computeCoverage(CASES);
  const count = (of: 'fields' | 'statuses') => operations.reduce((sum, each) => sum + each[of].size, 0);
  return [
    '# Parity with the LangGraph agent server',
    '',
    `Generated from the tests by \`npm run generate:parity\` in \`e2e\`; a test fails when it is stale. The level is ${AGENT_SERVER_LEVEL}:`,
    `${operations.length} operations, ${count('fields')} request fields, ${count('statuses')} documented answers.`,
    '',
    'Each field is shown by a test that passes, and that fails by what it sees (an assertion, no other error) when a proxy on the way takes',
    'the field out of the request; so none is accepted and ignored. Each answer is held against the schema of the contract. The tests are in `e2e/parity/cases`.',
    '',
    `What other agent servers have is listed in \`e2e/parity/upstream\`: ${UPSTREAM.length} operations. What of it is left out here stands with its operation,`,
    'or in the table below.',
    '',
    '| operation that is not served | why |',
    '| --- | --- |',
    ...UPSTREAM.filter((each) => findMissing(each) === undefined).map(
      ({ operation }) => `| ${operation} | ${findOmissionReason(operation)} |`,
    ),
    ...operations.flatMap(({ operation, fields, statuses }) => [
      '',
      `## ${operation.method.toUpperCase()} ${operation.path}`,
      '',
      `${operation.summary}. \`${operation.operationId}\``,
      '',
      '| field or answer | shown by |',
      '| --- | --- |',
      ...[...fields].map(([field, shown]) => row(`\`${field}\``, shown)),
      ...[...statuses].map(([status, shown]) => row(String(status), shown)),
      ...leftOut(`${operation.method.toUpperCase()} ${operation.path}`),
    ]),
    '',
  ].join('\n');
}

/** Returns rows for what other servers have of an operation, and this one has not. */
function leftOut(operation: string): string[] {
  const upstream = UPSTREAM.find((each) => each.operation === operation);
  const missing = (upstream && findMissing(upstream)) ?? [];
  return missing.map(
    (what) =>
      `| ${typeof what === 'string' ? `\`${what}\`` : what} | left out: ${findOmissionReason(operation, what)} |`,
  );
}

function row(what: string, shown: ShownBy[]): string {
  return `| ${what} | ${shown.map(({ promise, file }) => `${promise.replaceAll('|', '\\|')} (${file})`).join('; ')} |`;
}
