/** Error codes of the distribution specification, with the status of each. */
const STATUSES = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 416,
  BLOB_UPLOAD_UNKNOWN: 404,
  DENIED: 403,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 404,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  PAGINATION_NUMBER_INVALID: 400,
  RANGE_INVALID: 416,
  SIZE_INVALID: 413,
  TOOMANYREQUESTS: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED: 405,
} as const;

/** An error in the format of the distribution specification: `{"errors": [{code, message}]}`. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly code: keyof typeof STATUSES;
  readonly headers: Record<string, string>;

  constructor(code: keyof typeof STATUSES, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return STATUSES[this.code];
  }

  get body(): object {
    return { errors: [{ code: this.code, message: this.message }] };
  }
}
