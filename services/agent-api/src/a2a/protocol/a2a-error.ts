/** The errors of A2A: by reason their code in JSON-RPC, and their status in HTTP. */
const ERRORS = {
  PARSE_ERROR: { code: -32700, status: 400 },
  INVALID_REQUEST: { code: -32600, status: 400 },
  METHOD_NOT_FOUND: { code: -32601, status: 404 },
  INVALID_PARAMS: { code: -32602, status: 400 },
  INTERNAL_ERROR: { code: -32603, status: 500 },
  TASK_NOT_FOUND: { code: -32001, status: 404 },
  TASK_NOT_CANCELABLE: { code: -32002, status: 400 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, status: 400 },
  UNSUPPORTED_OPERATION: { code: -32004, status: 400 },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, status: 400 },
  EXTENSION_SUPPORT_REQUIRED: { code: -32008, status: 400 },
  VERSION_NOT_SUPPORTED: { code: -32009, status: 400 },
} as const;
export type A2aErrorReason = keyof typeof ERRORS;

/** The status names of Google's APIs, which HTTP answers carry beside the number. */
const STATUS_NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'OUT_OF_RANGE',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
/** Reasons whose general status name would say less. */
const PRECONDITIONS: ReadonlySet<string> = new Set([
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
]);
/** Reasons of JSON-RPC itself, which have no details of A2A. */
const GENERAL: ReadonlySet<string> = new Set([
  ...['PARSE_ERROR', 'INVALID_REQUEST', 'METHOD_NOT_FOUND', 'INVALID_PARAMS', 'INTERNAL_ERROR'],
]);

/** A fault of one field of a request. */
export interface FieldViolation {
  /** Path of the field, as `message.parts[0].text`. */
  field: string;
  description: string;
}

/** A failure in the terms of A2A. Each binding gives it its own form. */
export class A2aError extends Error {
  readonly reason: A2aErrorReason;
  readonly violations: FieldViolation[];

  constructor(reason: A2aErrorReason, message: string, violations: FieldViolation[] = []) {
    super(message);
    this.name = 'A2aError';
    this.reason = reason;
    this.violations = violations;
  }

  get code(): number {
    return ERRORS[this.reason].code;
  }

  /** The status of an HTTP answer. */
  get status(): number {
    return ERRORS[this.reason].status;
  }
}

export function invalidParams(field: string, description: string): A2aError {
  return new A2aError('INVALID_PARAMS', `${field}: ${description}`, [{ field, description }]);
}

export function taskNotFound(taskId: string): A2aError {
  return new A2aError('TASK_NOT_FOUND', `Task ${taskId} not found`);
}

/** Returns the error of a JSON-RPC answer. */
export function toRpcError(error: A2aError): { code: number; message: string; data?: object[] } {
  const data = detailsOf(error);
  return { code: error.code, message: error.message, ...(data.length > 0 && { data }) };
}

/** Returns the body of an HTTP answer. `detail` is what every error of the agent server has. */
export function toHttpErrorBody(status: number, message: string, error?: A2aError): Record<string, unknown> {
  const name = error && PRECONDITIONS.has(error.reason) ? 'FAILED_PRECONDITION' : STATUS_NAMES[status];
  return {
    error: {
      code: status,
      status: name ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNKNOWN'),
      message,
      details: error ? detailsOf(error) : [],
    },
    detail: message,
  };
}

/** Returns the body of an answer of 0.3 over HTTP. */
export function toV03HttpErrorBody(error: A2aError): Record<string, unknown> {
  return { ...toRpcError(error), detail: error.message };
}

function detailsOf({ reason, violations }: A2aError): object[] {
  return [
    ...(GENERAL.has(reason)
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }]),
    ...(violations.length > 0
      ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }]
      : []),
  ];
}
