import { CliError, ExitCode } from '../cli-error.ts';
import type { HttpAnswer } from './http.ts';

/** An answer with an error status, with a message for the user. */
export class PlatformRefusedError extends CliError {
  readonly status: number;
  readonly detail: string;

  constructor(what: string, { status, text }: HttpAnswer) {
    const detail = detailOf(text);
    super(messageOf(what, status, detail), exitCodeOf(status));
    this.status = status;
    this.detail = detail;
  }

  /** True when the request needs a workspace, as with a key of the whole organization. */
  get needsWorkspace(): boolean {
    return this.status === 403 && this.detail.includes('requires workspace specification');
  }
}

/** Returns whether the platform is unavailable, or a proxy before it says so. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === ExitCode.unreachable;
}

function messageOf(what: string, status: number, detail: string): string {
  if (status === 401) return `The API key is not valid on this platform: ${detail}`;
  if (status === 403 && /not enabled/i.test(detail)) {
    return `Deployments are not enabled for the organization of this API key: ${detail}`;
  }
  if (status === 403 && detail.includes('requires workspace specification')) {
    return 'This API key is of the whole organization: name a workspace with --tenant-id or LANGSMITH_TENANT_ID, or take a key of a workspace.';
  }
  if (status === 403) return `The API key may not do this: ${detail}`;
  if (status === 404) return detail;
  return `${what} was refused (${status}): ${detail}`;
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return ExitCode.denied;
  if (status === 404) return ExitCode.notFound;
  return status >= 502 && status <= 504 ? ExitCode.unreachable : ExitCode.failed;
}

const TEXT_MAX = 2_000;

/** Returns the `detail` of an error body, which is a sentence or a list of faults; any other body as it is. */
export function detailOf(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text.trim().slice(0, TEXT_MAX) || 'no reason was given';
  }
  const detail = (body as { detail?: unknown } | null)?.detail;
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) return detail.map(faultOf).join('; ');
  return text.trim().slice(0, TEXT_MAX);
}

function faultOf(fault: { loc?: (string | number)[]; msg?: string }): string {
  return [fault.loc?.join('.'), fault.msg].filter(Boolean).join(': ');
}
