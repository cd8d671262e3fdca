/** The size of a manifest that the distribution specification asks registries to accept. */
export const MANIFEST_LIMIT_BYTES = 4 * 1024 * 1024;
