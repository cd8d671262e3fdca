import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow } from '../rules/source-files.ts';

const repository = join(import.meta.dirname, '../..');
const CODE_FOLDERS = ['bench', 'e2e', 'examples', 'hosts', 'infra', 'packages', 'services'];

const GENERATED = ['docs/parity.md', 'docs/reliability.md', 'docs/services/errors.md'];

const textOf = (path: string) => readFileSync(join(repository, path), 'utf8');

const codeFiles = CODE_FOLDERS.flatMap((folder) => filesBelow(repository, folder));
const pages = [
  ...readdirSync(repository).filter((name) => name.endsWith('.md')),
  ...[...filesBelow(repository, 'docs'), ...codeFiles].filter((path) => path.endsWith('.md')),
];

/** Returns the anchors that a page's headings get on GitHub, and those that it names itself. */
function anchorsOf(page: string): Set<string> {
  const text = textOf(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/^<a id="([^"]+)"><\/a>$/gm)].map(([, id]) => id!)]);
}

function leadsNowhere(page: string, link: string): boolean {
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path ? normalize(join(dirname(page), path)) : page;
  if (!existsSync(join(repository, target))) return true;
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
}

it('every link of a page leads to a file, and to a heading of it if it names one', () => {
  const broken = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)\s]+)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^\w+:/.test(link) && leadsNowhere(page, link))
      .map((link) => `${page} → ${link}`),
  );
  expect(pages.length).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});

/** The decisions by their numbers. Each page has those of a topic. */
const decisions = new Map(
  readdirSync(join(repository, 'docs/decisions')).flatMap((page) =>
    [...textOf(`docs/decisions/${page}`).matchAll(/^<a id="(\d{4})"><\/a>\n\n## (.*)$/gm)].map(
      ([, number, title]) => [number!, { page, title: title! }] as const,
    ),
  ),
);

it('every page of docs that code or a comment cites exists', () => {
  const broken = codeFiles
    .filter((path) => /\.(ts|tsx|mjs|js|sql|sh|ya?ml)$/.test(path) && !path.endsWith('.test.ts'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/\bdocs\/(?:decisions\/(\d{4})\b|[\w/-]+\.md\b)(?:[\w-]*\.md)?/g)]
        .filter(([page, number]) =>
          page.endsWith('.md') ? !existsSync(join(repository, page)) : !decisions.has(number!),
        )
        .map(([page]) => `${path} → ${page}`),
    );
  expect(broken).toEqual([]);
});

it('the list of decisions has each decision with its title', () => {
  const list = textOf('docs/decisions/README.md');
  const missing = [...decisions]
    .map(([number, { page, title }]) => `| [${number}](${page}#${number}) | ${title} |`)
    .filter((row) => !list.includes(row));
  expect(decisions.size).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

/** Returns lines of prose: no tables, no code blocks. A single word, such as a link, may be longer than a line. */
function proseOf(page: string): string[] {
  const withoutCode = textOf(page).replace(/^\s*```[\s\S]*?^\s*```/gm, '');
  return withoutCode.split('\n').filter(
    (line) =>
      !line.startsWith('|') &&
      line
        .trim()
        .replace(/^[-*] /, '')
        .includes(' '),
  );
}

it('a line of a page written by hand has at most 120 characters', () => {
  const written = pages.filter((page) => page.startsWith('docs/') && !GENERATED.includes(page));
  const long = written.flatMap((page) =>
    proseOf(page)
      .filter((line) => [...line].length > 120)
      .map((line) => `${page}: ${line.slice(0, 60)}…`),
  );
  expect(long).toEqual([]);
});
