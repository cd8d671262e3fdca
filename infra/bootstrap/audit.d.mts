export function audit(): void;
export function verdictOf(status: number | null, output: string): string | undefined;
