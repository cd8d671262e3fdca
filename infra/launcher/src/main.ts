import { InfrastructureError } from '@runyard/local-infra';
import { runDoctor } from './doctor/run-doctor.ts';
import { readFlags, usage } from './flags.ts';
import { launch } from './launch.ts';
import { createProgress } from './progress.ts';
import { repositoryFolder } from './repository.ts';

/** The exit code of a program that Ctrl-C ends. */
const INTERRUPTED = 130;

const progress = createProgress(process.stdout);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // Ctrl-C reaches this process from the terminal and once more through npm: only the first one counts.
  process.on(signal, () => stopping.abort());
}

try {
  const repository = repositoryFolder();
  const [verb, ...rest] = process.argv.slice(2);
  if (verb === 'doctor') {
    // It leaves nothing to close.
    stopping.signal.addEventListener('abort', () => process.exit(INTERRUPTED));
    process.exit(await runDoctor(rest, repository, process.stdout));
  }
  const flags = readFlags(process.argv.slice(2), repository);
  if (flags.help) process.stdout.write(usage);
  else await launch({ ...flags, repository, progress, stopping: stopping.signal });
} catch (error) {
  if (!stopping.signal.aborted) {
    // The person at the keyboard gets a sentence; any other error is our fault and comes with its stack.
    const message = error instanceof InfrastructureError ? error.message : (error as Error).stack;
    process.stderr.write(`\n${message}\n`);
    process.exitCode = 1;
  }
}
// An interrupted start may still be waiting for something that nobody needs any more.
process.exit();
