export const HOW_TO_INSTALL: string;
export function findChromium(environment?: Record<string, string | undefined>): string | undefined;
export function ensureChromium(): void;
