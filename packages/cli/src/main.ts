#!/usr/bin/env node
import manifest from '../package.json' with { type: 'json' };
import { ExitCode, InterruptedError } from './cli-error.ts';
import { run } from './run.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second signal ends the command at once.
    if (interrupted.signal.aborted) process.exit(ExitCode.interrupted);
    interrupted.abort(new InterruptedError(signal));
  });
}
// The reader of a pipe may close it: `runyard deploy logs | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdin, stdout, stderr, env } = process;
const context = { cwd: process.cwd(), env, stdin, stdout, stderr, pollMs: 1_000, interrupted: interrupted.signal };
process.exitCode = await run(process.argv.slice(2), context, manifest.version);
