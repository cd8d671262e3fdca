/** What the command ends with. Documented in docs/cli.md; scripts rely on it. */
export const ExitCode = {
  done: 0,
  /** The platform refused, a build or start failed, or something broke. */
  failed: 1,
  /** The command line, `langgraph.json` or the archive is not as it must be. */
  usage: 2,
  /** No key, a wrong one, or one that may not do this. */
  denied: 3,
  notFound: 4,
  unreachable: 5,
  /** Nobody waits any more; what was begun goes on. */
  timedOut: 6,
  interrupted: 130,
  terminated: 143,
} as const;

/** A sentence for the person at the keyboard, and what the command ends with. Anything else that is thrown is a fault of ours. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The reason of the signal by which a command is told to end. */
export class Interruption extends CliError {
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('Interrupted.', signal === 'SIGINT' ? ExitCode.interrupted : ExitCode.terminated);
  }
}

export function reasonOf(error: unknown): string {
  const { message, cause, code } = error as { message?: string; cause?: unknown; code?: string };
  // Node's own errors of several attempts say nothing themselves.
  if (!message) return cause ? reasonOf(cause) : (code ?? String(error));
  return message;
}
