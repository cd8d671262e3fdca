import { ERROR_CATALOGUE, ERRORS_BY_TOPIC } from './catalogue.ts';
import type { ErrorEntry } from './entry.ts';

const HEAD = `# Error codes

Every error that a caller or an operator acts on has a code. The code is in the log, as the field \`code\` of the line
about the failure and of the answered request, and in the metric \`…http_errors_total\`. It is never in an answer:
find the line of an answer by its \`x-request-id\`. Codes outlive releases, so alarms can name them.

This page is generated from the catalogue in \`packages/contracts/src/errors\`. The pages of the services say what an
error looks like there.
`;

/** Returns the page with all codes, docs/services/errors.md. */
export function renderErrorPage(): string {
  const sections = Object.entries(ERRORS_BY_TOPIC).map(([topic, errors]) => {
    const rows = Object.entries<ErrorEntry>(errors).map(
      ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status ?? ''} | ${meaning} | ${remedy} |`,
    );
    return `\n## ${topic}\n\n| Code | Status | What it means | What to do |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return HEAD + sections.join('');
}

/** Matches a row of a table of failure modes: its code, and what one sees, which is written by hand. */
const ROW = /^\| `([a-z_]+)` \| ([^|\n]*) \| [^|\n]* \| [^|\n]* \|$/gm;

/** Returns a page with the meanings and remedies of the codes in its tables as the catalogue has them. */
export function fillErrorTables(page: string): string {
  return page.replace(ROW, (row, code: string, seen: string) => {
    const entry = Object.hasOwn(ERROR_CATALOGUE, code)
      ? ERROR_CATALOGUE[code as keyof typeof ERROR_CATALOGUE]
      : undefined;
    return entry ? `| \`${code}\` | ${seen} | ${entry.meaning} | ${entry.remedy} |` : row;
  });
}
