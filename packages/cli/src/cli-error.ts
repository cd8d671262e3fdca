/** Exit codes of the command. Scripts rely on them, and docs/cli.md lists them. */
export const ExitCode = {
  done: 0,
  /** The platform refused, a build or start failed, or something broke. */
  failed: 1,
  /** The command line, `langgraph.json` or the archive is invalid. */
  usage: 2,
  /** The key is missing, wrong, or may not do this. */
  denied: 3,
  notFound: 4,
  unreachable: 5,
  /** The command stopped waiting; the deployment continues. */
  timedOut: 6,
  interrupted: 130,
  terminated: 143,
} as const;

/** A message for the user, and the exit code. Any other error is a bug of the command. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The abort reason when a signal ends the command. */
export class InterruptedError extends CliError {
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('Interrupted.', signal === 'SIGINT' ? ExitCode.interrupted : ExitCode.terminated);
  }
}

export function reasonOf(error: unknown): string {
  const { message, cause, code } = error as { message?: string; cause?: unknown; code?: string };
  // Node's own errors of several attempts have no message.
  if (!message) return cause ? reasonOf(cause) : (code ?? String(error));
  return message;
}
