/** The only form of digests that content is kept under. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;
