/** A project that is built as quickly as any can be. */
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../../hosts/javascript/node_modules/@langchain', import.meta.url));

/** Replaces a package manager: links the packages of this repository. */
export const LINK_PACKAGES = `mkdir -p node_modules && ln -s ${modules} node_modules/@langchain`;

/** Its graph carries its schemas, as reading them off the source would take seconds of each build. */
export const PROJECT = {
  'langgraph.json': JSON.stringify({ graphs: { agent: './agent.mjs:graph' } }),
  'agent.mjs': `
    import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
    const jsonSchema = { input: () => ({ type: 'string' }), output: () => ({ type: 'string' }) };
    const text = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema } };
    export const graph = new StateGraph(new StateSchema({ text }))
      .addNode('say', () => ({ text: 'hello' })).addEdge(START, 'say').addEdge('say', END).compile();`,
};
