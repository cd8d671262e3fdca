import type { Plugin } from 'esbuild';

export function compilersInFiles(outdir: string): Plugin;
export function escapeWideCharacters(file: string): Promise<void>;
