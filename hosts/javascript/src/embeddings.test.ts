import { embeddingsOf } from '@runyard/host-client';
import { type EmbeddingsSource, GraphLoadError } from '@runyard/host-protocol';
import { embeddingsSource } from '@runyard/project';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtures, type HostUnderTest, startHost } from '../test/host-under-test.ts';
import { temporaryProject } from '../test/temporary-project.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic');
});
afterAll(() => host?.close());

const embed = (source: EmbeddingsSource, texts: string[], as: 'documents' | 'query' = 'documents') =>
  host.embed({ source, texts, as });
const ofFile = (symbol: string) => embeddingsSource(`./embeddings.ts:${symbol}`, `${fixtures}basic`);
const plain = (vectors: Float32Array[]) => vectors.map((vector) => [...vector]);

describe('an export of the project', () => {
  it('may be a function of texts', async () => {
    expect(plain(await embed(ofFile('lengths'), ['a', 'abc']))).toEqual([
      [1, 0.5],
      [3, 0.5],
    ]);
    expect(plain(await embed(ofFile('lengths'), ['ab'], 'query'))).toEqual([[2, 0.5]]);
  });

  it('may be LangChain embeddings, which embed queries in their own way', async () => {
    expect(plain(await embed(ofFile('instance'), ['a']))).toEqual([[1]]);
    expect(plain(await embed(ofFile('instance'), ['a'], 'query'))).toEqual([[-1]]);
  });

  it.each([
    ['nothing', 'has no export named "nothing"'],
    ['neither', 'neither a function of texts nor LangChain embeddings'],
    ['throwing', 'the model is away'],
    ['nonsense', 'no list of vectors was answered'],
  ])('%s without vectors fails and says why', async (symbol, message) => {
    await expect(embeddingsOf(host, ofFile(symbol))(['a'], 'documents')).rejects.toMatchObject({
      reason: 'embedding_failed',
      message: expect.stringContaining(message),
    });
  });
});

describe('a model of a provider', () => {
  const files = {
    'node_modules/@langchain/openai/package.json': JSON.stringify({ name: '@langchain/openai', main: 'index.cjs' }),
    'node_modules/@langchain/openai/index.cjs': `
      exports.OpenAIEmbeddings = class {
        constructor({ model }) {
          if (model === 'keyless') throw new Error('OPENAI_API_KEY is not set');
          this.dims = model.length;
        }
        async embedDocuments(texts) { return texts.map(() => new Array(this.dims).fill(0.5)); }
        async embedQuery() { return new Array(this.dims).fill(0.25); }
      };`,
  };

  it('comes from the package of the project', async () => {
    const directory = await temporaryProject(files, false);
    expect(plain(await embed(embeddingsSource('openai:abc', directory), ['x', 'y']))).toEqual([
      [0.5, 0.5, 0.5],
      [0.5, 0.5, 0.5],
    ]);
    expect(plain(await embed(embeddingsSource('openai:abc', directory), ['x'], 'query'))).toEqual([[0.25, 0.25, 0.25]]);
  });

  it.each([
    ['openai:keyless', 'openai:keyless cannot be used for embeddings: OPENAI_API_KEY is not set'],
    ['cohere:m', '@langchain/cohere, which is not installed'],
    ['zap:m', 'names the provider "zap"; known are azure_openai, bedrock'],
  ])('%s that is unavailable fails and says why', async (name, message) => {
    const directory = await temporaryProject(files, false);
    const source = embeddingsSource(name, directory);
    await expect(embed(source, ['x'])).rejects.toThrow(GraphLoadError);
    await expect(embeddingsOf(host, source)(['x'], 'documents')).rejects.toMatchObject({
      reason: 'embedding_failed',
      message: expect.stringContaining(message),
    });
  });
});
