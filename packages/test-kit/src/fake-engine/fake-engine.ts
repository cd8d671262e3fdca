import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixture = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const AGENT = fixture('fake-agent.mjs');
export const ENGINE = fixture('fake-engine.mjs');
/** The program of images that says whether an address can be reached. */
export const REACH = fixture('../../../../infra/docker/agent-server/reach.mjs');

/** Returns the variables that the fake engine reads. It records its calls in `folder`. */
export function engineVariables(folder: string): Record<string, string> {
  return {
    DOCKER_FAKE_FOLDER: folder,
    DOCKER_FAKE_AGENT: AGENT,
    DOCKER_FAKE_HOSTS: fixture('fake-hosts.mjs'),
    DOCKER_FAKE_REACH: REACH,
  };
}

export interface EngineCall {
  args: string[];
  input?: string;
}

export async function engineCalls(folder: string): Promise<EngineCall[]> {
  const text = await readFile(join(folder, 'calls.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as EngineCall);
}
