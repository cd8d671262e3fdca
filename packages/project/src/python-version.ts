const OLDEST_MINOR = 11;

/** The oldest Python that runs projects. */
export const OLDEST_PYTHON = `3.${OLDEST_MINOR}`;

/** @param version has no patch number: `3.12` */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 3 || (major === 3 && minor < OLDEST_MINOR);
}
