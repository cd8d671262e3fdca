import type { Plugin } from 'esbuild';

export function compilersInFiles(outdir: string): Plugin;
export function escapeWideCharacters(file: string): Promise<void>;
export function findWideTemplates(files: string[]): Promise<string[]>;
