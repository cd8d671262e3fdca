export function readLabels(image: { name: string; description: string; dockerfile: string }): Record<string, string>;
export function readCommit(folder: string): { revision: string; created: string; source: string | undefined };
export function webAddressOf(remote: string): string | undefined;
export function qualifyImage(image: string): string;
