import { SUPPORTED_REVISIONS } from './versions.ts';

const BAD_REQUEST = 400;
const OK = 200;

/** A failure in the terms of MCP. */
export class McpError extends Error {
  /** Code of JSON-RPC. */
  readonly code: number;
  readonly data: object | undefined;
  /** The status of an HTTP answer whose headers are not out. */
  readonly status: number;

  constructor(code: number, message: string, { status = OK, data }: { status?: number; data?: object } = {}) {
    super(message);
    this.name = 'McpError';
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/** Returns the error of a JSON-RPC answer. */
export function toRpcError({ code, message, data }: McpError): { code: number; message: string; data?: object } {
  return { code, message, ...(data && { data }) };
}

export function parseError(message: string): McpError {
  return new McpError(-32700, message, { status: BAD_REQUEST });
}

export function invalidRequest(message: string, status = BAD_REQUEST): McpError {
  return new McpError(-32600, message, { status });
}

/** @param status 400 for what is wrong before a method is found */
export function invalidParams(message: string, status = OK): McpError {
  return new McpError(-32602, message, { status });
}

/** @param status 404 in the new revision */
export function methodNotFound(method: string, status: number): McpError {
  return new McpError(-32601, `There is no method ${method}`, { status });
}

export function internalError(message: string, status = OK): McpError {
  return new McpError(-32603, message, { status });
}

/** The headers of a request and its body disagree. */
export function headerMismatch(message: string): McpError {
  return new McpError(-32020, `Header mismatch: ${message}`, { status: BAD_REQUEST });
}

/** @param requiredCapabilities as the client would have to declare them */
export function missingCapability(requiredCapabilities: object): McpError {
  return new McpError(-32021, 'The client lacks a capability that the request needs', {
    status: BAD_REQUEST,
    data: { requiredCapabilities },
  });
}

export function unsupportedVersion(requested: string): McpError {
  return new McpError(-32022, `Version ${requested} of the protocol is not supported`, {
    status: BAD_REQUEST,
    data: { supported: SUPPORTED_REVISIONS, requested },
  });
}
