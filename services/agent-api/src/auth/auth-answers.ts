import type { ErrorCodeOf } from '@runyard/contracts';
import { isHopByHop } from '@runyard/contracts/hop-by-hop';
import { AuthHandlerError } from '@runyard/host-client';
import type { AuthRefusal } from '@runyard/host-protocol';
import { AppError, UnavailableError } from '@runyard/service-kit';

/** The project's handler refused with an `HTTPException`: status, message and headers are the project's. */
export class ProjectRefusalError extends AppError {
  readonly status: number;

  constructor({ status, detail, headers }: AuthRefusal) {
    const code: ErrorCodeOf<number> = status === 401 ? 'user_unauthenticated' : 'refused_by_project';
    super(detail, { code, headers: passedHeaders(headers) });
    this.status = status;
  }
}

/**
 * Asks the project. A handler that is late, or whose process is away, is a 503, and any other failure a plain 500: the
 * reason is for the log alone.
 */
export async function askProject<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    if (!(cause instanceof AuthHandlerError) || cause.reason === 'failed') throw cause;
    throw new UnavailableError('The project did not answer', { code: 'project_unresponsive', cause });
  }
}

/** Returns the headers that do not describe the body or the connection, which are this server's. */
function passedHeaders(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.filter(([name]) => !isHopByHop(name) && !name.toLowerCase().startsWith('content-')),
  );
}
