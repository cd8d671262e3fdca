import { parseTextPath, type StoreIndex, type StoreTtl } from '@runyard/checkpointer';
import { type EmbeddingsSource, GraphLoadError } from '@runyard/host-protocol';
import { parseSource } from './project-source.ts';
import type { Project } from './read-project.ts';

export interface StoreSettings {
  ttl: StoreTtl;
  /** Null: expired items are never deleted. */
  sweepEveryMinutes: number | null;
  index?: StoreIndex;
  embeddings?: EmbeddingsSource;
}

/** Converts the `store` section into settings of the store. @throws GraphLoadError when a field is no path */
export function storeSettings({ store, directory }: Pick<Project, 'store' | 'directory'>): StoreSettings {
  const { ttl, index } = store ?? {};
  return {
    ttl: { defaultMinutes: ttl?.default_ttl ?? null, refreshOnRead: ttl?.refresh_on_read ?? true },
    sweepEveryMinutes: ttl?.sweep_interval_minutes ?? null,
    ...(index && {
      index: { embeddings: index.embed, dims: index.dims, fields: requireTextPaths(index.fields ?? ['$']) },
      embeddings: embeddingsSource(index.embed, directory),
    }),
  };
}

/**
 * Distinguishes `./file.ts:export` from `provider:model` by its beginning or its extension, and a module of Python by
 * the dot in its name.
 */
export function embeddingsSource(embed: string, directory: string): EmbeddingsSource {
  if (/^\.{0,2}\//.test(embed) || /\.([cm]?[jt]sx?|py)(:|$)/.test(embed) || /^\w+(\.\w+)+:\w+$/.test(embed)) {
    return { kind: 'export', ...parseSource(embed, directory) };
  }
  const colon = embed.indexOf(':');
  return {
    kind: 'provider',
    provider: embed.slice(0, colon),
    model: embed.slice(colon + 1),
    projectDir: directory,
  };
}

function requireTextPaths(fields: string[]): string[] {
  for (const field of fields) {
    try {
      parseTextPath(field);
    } catch (cause) {
      throw new GraphLoadError(`langgraph.json: store.index.fields: ${(cause as Error).message}.`, { cause });
    }
  }
  return fields;
}
