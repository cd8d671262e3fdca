import { expect, it } from 'vitest';
import { embeddingsSource, storeSettings } from './store-settings.ts';

it('without a section, items are kept for ever and nothing is embedded', () => {
  expect(storeSettings({ store: null, directory: '/p' })).toEqual({
    ttl: { defaultMinutes: null, refreshOnRead: true },
    sweepEveryMinutes: null,
  });
});

it('the section sets times in minutes, and the embeddings', () => {
  const store = {
    ttl: { refresh_on_read: false, default_ttl: 60, sweep_interval_minutes: 5 },
    index: { embed: 'openai:text-embedding-3-small', dims: 1536, fields: ['title', 'parts[*].text'] },
  };
  expect(storeSettings({ store, directory: '/p' })).toEqual({
    ttl: { defaultMinutes: 60, refreshOnRead: false },
    sweepEveryMinutes: 5,
    index: { embeddings: 'openai:text-embedding-3-small', dims: 1536, fields: ['title', 'parts[*].text'] },
    embeddings: { kind: 'provider', provider: 'openai', model: 'text-embedding-3-small', projectDir: '/p' },
  });
});

it('the whole value is embedded by default', () => {
  const { index } = storeSettings({ store: { index: { embed: './e.ts:embed', dims: 3 } }, directory: '/p' });
  expect(index?.fields).toEqual(['$']);
});

it.each([
  ['./src/embed.ts:embed', { kind: 'export', file: '/p/src/embed.ts', symbol: 'embed' }],
  ['my_package.embed:embed', { kind: 'export', file: '', module: 'my_package.embed', symbol: 'embed' }],
  ['embed.mjs', { kind: 'export', file: '/p/embed.mjs', symbol: 'default' }],
  [
    'ollama:nomic-embed-text:v1.5',
    { kind: 'provider', provider: 'ollama', model: 'nomic-embed-text:v1.5', projectDir: '/p' },
  ],
])('the embed setting %s is read as %j', (embed, source) => {
  expect(embeddingsSource(embed, '/p')).toEqual(source);
});

it('the error names a field that is no path', () => {
  const store = { index: { embed: './e.ts:embed', dims: 3, fields: ['a['] } };
  expect(() => storeSettings({ store, directory: '/p' })).toThrow('store.index.fields: "a[" is not a path');
});
