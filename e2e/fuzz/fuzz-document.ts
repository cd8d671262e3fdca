import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OPEN_API_INFO } from '@runyard/contracts';
import { parseDocumentLines } from '@runyard/contracts/document-lines';
import { preparePython, runProgram } from '@runyard/test-kit/python';
import { CLIENT_REQUIREMENTS } from '../harness/python.ts';

const DOCUMENTS = path.resolve(import.meta.dirname, '../../docs/api');
const CONFIG = path.join(import.meta.dirname, 'schemathesis.toml');
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';
/** Operations whose answers end when the client leaves. */
const ENDLESS = ['joinThreadStream', 'streamEvents', 'watchRunChanges'];
const REQUEST_TIMEOUT_SECONDS = 30;

export interface FuzzOptions {
  document: keyof typeof OPEN_API_INFO;
  /** The URL of the document's paths, through the gateway. */
  url: string;
  /** Sent with each request: they say who asks. */
  headers: Record<string, string>;
  /** A regular expression of the paths to request; default: all. */
  paths?: string;
  /** Operations that are not requested. */
  without?: readonly string[];
  /** The token that forms of the session carry: no random text is it. */
  csrfToken?: string;
  seed: number;
}

export interface FuzzOutcome {
  requests: number;
  /** Operations that were requested, of those that have an end. */
  operations: { tested: number; selected: number };
  /**
   * True when all answers were within the contract; `output` has the others, and requests without an answer, each with
   * what repeats it.
   */
  isClean: boolean;
  output: string;
}

/**
 * Besides random values every boundary of every schema is requested, and ids from answers lead to further requests. The
 * number is that of cases of each operation and of each chain of operations.
 */
const PHASES = ['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', '50'];

/**
 * Requests every operation of a public document with values that its schemas allow and forbid, and checks each answer
 * against the document.
 */
export async function fuzzDocument(options: FuzzOptions): Promise<FuzzOutcome> {
  const { url, headers, without = [], seed } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-fuzz-'));
  const report = path.join(folder, 'report.json');
  try {
    const file = path.join(folder, 'document.json');
    await writeFile(file, await readDocument(options));
    const { output } = await runProgram(
      await preparePython(CLIENT_REQUIREMENTS),
      [
        ...['-m', 'schemathesis.cli', '--config-file', CONFIG, 'run', file],
        ...['--url', url, '--checks', CHECKS, '--seed', String(seed)],
        ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
        // One: threads that parse at once break Python before 3.11.9 and 3.12.4 (a SystemError of its `ast`).
        ...['--workers', '1', '--request-timeout', String(REQUEST_TIMEOUT_SECONDS), '--warnings', 'off'],
        ...[...ENDLESS, ...without].flatMap((operation) => ['--exclude-operation-id', operation]),
        ...['--report', 'json', '--report-json-path', report, ...PHASES],
      ],
      // It writes files to its working directory.
      { cwd: folder },
    );
    const { exit_code, complete, operations, test_cases } = JSON.parse(await readFile(report, 'utf8')) as Report;
    return { requests: test_cases.generated, operations, isClean: exit_code === 0 && complete, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a document with the paths to request alone, whose forms allow the token of the session alone. */
async function readDocument({ document: name, paths = '', csrfToken }: FuzzOptions): Promise<string> {
  const text = await readFile(path.join(DOCUMENTS, `${name}.openapi.jsonl`), 'utf8');
  const isWanted = new RegExp(paths);
  const document = parseDocumentLines(text) as { paths: Record<string, unknown> };
  // A filter of the program would have it read and analyse every operation all the same.
  document.paths = Object.fromEntries(Object.entries(document.paths).filter(([each]) => isWanted.test(each)));
  if (csrfToken === undefined) return JSON.stringify(document);
  return JSON.stringify(document, (key, value: unknown) => {
    if (key !== 'csrf') return value;
    return typeof value === 'string' ? csrfToken : { type: 'string', enum: [csrfToken] };
  });
}

interface Report {
  exit_code: number;
  /** False when it ended before everything was requested. */
  complete: boolean;
  operations: { tested: number; selected: number };
  test_cases: { generated: number };
}
