/** Changes of rights are seen within so long, in milliseconds, without a new visit. */
export const RIGHTS_EVERY_MS = 5_000;
