/**
 * Which rows a caller may see: a filter on their metadata, `{}` for all of them. A parameter of every store call, so that
 * a query without it does not compile.
 */
export type Scope = Readonly<Record<string, unknown>>;

export const UNRESTRICTED: Scope = {};
