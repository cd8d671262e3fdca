import { spawnSync } from 'node:child_process';
import { StepError } from './steps.mjs';

const PROBE = 'import ensurepip, sys, venv; sys.exit(0 if sys.version_info >= (3, 11) else 3)';

/** Throws one sentence where `python3` is missing, too old, or cannot create environments. */
export function requirePython(command = 'python3') {
  const { status } = spawnSync(command, ['-c', PROBE], { stdio: 'ignore' });
  if (status === 0) return;
  throw new StepError('The tests need Python 3.11 or newer with `venv`, as `python3` on the PATH.');
}
