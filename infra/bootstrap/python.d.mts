/** Throws one sentence where `python3` is missing, too old, or cannot create environments. */
export function requirePython(command?: string): void;
