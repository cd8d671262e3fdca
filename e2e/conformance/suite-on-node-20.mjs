// The conformance suite imports `globSync` from `fs`, for another of its commands. Node 20 has none, and would not load
// the suite: it gets a `fs` with that name.
import * as fs from 'node:fs';
import { register } from 'node:module';

const toUrl = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const completed = toUrl("export * from 'node:fs'; export const globSync = undefined;");
const hooks = `export const resolve = (name, context, next) =>
  name === 'fs' && context.parentURL.includes('/@modelcontextprotocol/conformance/')
    ? { url: ${JSON.stringify(completed)}, shortCircuit: true }
    : next(name, context);`;

if (!('globSync' in fs)) register(toUrl(hooks));
