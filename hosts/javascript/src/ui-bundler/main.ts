/**
 * Bundles a project's user interface components in a separate process: it takes seconds, with plugins that may run code
 * of the project. It answers once. When its parent exits, it ends too.
 */
import { Socket } from 'node:net';
import { serialize } from 'node:v8';
import { BUNDLER_FD, type BundleAnswer, type BundleRequest } from '@runyard/host-protocol/graph-process';
import { bundle } from './bundle.ts';

const parent = new Socket({ fd: BUNDLER_FD });
let line = '';

parent.once('close', () => process.exit());
parent.setEncoding('utf8').on('data', async (text: string) => {
  line += text;
  if (!line.endsWith('\n')) return;
  const answer = await bundle(JSON.parse(line) as BundleRequest).catch(
    (error: Error): BundleAnswer => ({ bundles: [], faults: [error.message] }),
  );
  parent.end(serialize(answer));
});
