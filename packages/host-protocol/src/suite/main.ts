/**
 * Checks a graph host: `npm run -s test:host -- --project FOLDER [--first] -- COMMAND ARGUMENT…`. Docs:
 * `docs/services/graph-host-protocol.md`.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkCase, hostCases } from './cases.ts';

const USAGE = 'Usage: npm run -s test:host -- --project FOLDER [--first] -- COMMAND ARGUMENT…\n';

const { values, positionals: command } = parseArgs({
  options: { project: { type: 'string' }, first: { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (values.project === undefined || command.length === 0) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const project = resolve(values.project);
let failed = 0;
for (const hostCase of hostCases.filter(({ part }) => part === 'first' || !values.first)) {
  const error = await checkCase(hostCase, { command, project }).then(
    () => undefined,
    (cause: Error) => cause,
  );
  process.stdout.write(`${error ? 'failed' : 'passed'}: a host ${hostCase.name}\n`);
  if (error) process.stdout.write(`${error.message.replace(/^/gm, '  ')}\n`);
  if (error) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
