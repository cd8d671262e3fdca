import { formatPath, type ProtocolError, type ProtocolErrorCode, validatorOf } from '@runyard/contracts';
import { AppError } from '@runyard/service-kit';
import type { Static, TSchema } from 'typebox';

/** A command cannot be executed; its response says why. */
export class CommandError extends Error {
  readonly code: ProtocolErrorCode;

  constructor(code: ProtocolErrorCode, message: string) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
  }
}

/** Returns the code of an HTTP status. */
export function codeOfStatus(status: number): ProtocolErrorCode {
  if (status === 403) return 'permission_denied';
  return status < 500 && status !== 401 && status !== 429 ? 'invalid_argument' : 'unknown_error';
}

/**
 * Returns the error response to a command. Errors that are not about the command are thrown on: the HTTP status of the
 * answer says of them, so that clients know when to repeat the request.
 */
export function toErrorResponse(id: number, error: unknown): ProtocolError {
  if (error instanceof CommandError) return { type: 'error', id, error: error.code, message: error.message };
  if (!(error instanceof AppError) || error.status >= 500 || error.status === 429) throw error;
  return { type: 'error', id, error: codeOfStatus(error.status), message: error.message };
}

/** Checks parameters of commands. A null counts as left out. */
export function paramsReader<T extends TSchema>(schema: T): (params: Record<string, unknown>) => Static<T> {
  const validate = validatorOf(schema);
  return (params) => {
    const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
    const result = validate(structuredClone(given));
    if (result.ok) return result.value;
    const faults = result.issues.map(({ path, message }) => `${formatPath(path)} ${message}`.trim());
    throw new CommandError('invalid_argument', `params: ${faults.join('; ')}`);
  };
}
