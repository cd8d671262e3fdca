import { BadRequestError, ConflictError, NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { invalidParams, McpError } from '../protocol/mcp-error.ts';

/** Returns an error of the services in the terms of MCP; undefined for HTTP's own ones, and for unforeseen ones. */
export function toMcpError(error: unknown): McpError | undefined {
  if (error instanceof McpError) return error;
  const isOfParams =
    error instanceof UnprocessableError ||
    error instanceof BadRequestError ||
    error instanceof ConflictError ||
    error instanceof NotFoundError;
  return isOfParams ? invalidParams(error.message) : undefined;
}
