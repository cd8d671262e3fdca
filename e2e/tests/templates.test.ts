/** Each template of `runyard new`: made by the command, deployed, and asked what its own README asks. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@runyard/test-kit';
import { preparePython } from '@runyard/test-kit/python';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { callControlPlane, createDeployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { runyard } from '../harness/runyard-cli.ts';

const { apiKey } = inject('platform');
const repository = path.resolve(import.meta.dirname, '../..');
/** The packages that `npm install` would bring: a test of the command holds the releases of both equal. */
const NODE_PACKAGES = path.join(repository, 'hosts/javascript/fixtures/agents/node_modules');
/** It names all that the other templates name, too. */
const PYTHON_REQUIREMENTS = path.join(repository, 'packages/cli/templates/python/deep-agent/requirements.txt');
/** A platform that was started as root runs projects as users of their own, who have to reach the Python. */
const PYTHON = process.getuid?.() === 0 ? '/usr/bin/python3' : 'python3';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'runyard-templates-'));
  // A platform that was started as root runs projects as users of their own.
  await chmod(parent, 0o755);
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** Answers of the server, the parts that a test looks at. */
interface Answer {
  messages?: { content: string }[];
  __interrupt__?: { value: { action_requests?: unknown; actionRequests?: unknown } }[];
  todos?: { content: string }[];
  files?: Record<string, unknown>;
  detail?: string;
}
const lastOf = (answer: Answer | undefined) => answer?.messages?.at(-1)?.content;

/** The promises of the templates, over the answers of the first conversation. */
const PROMISES: Record<string, (answers: Answer[]) => void> = {
  'react-agent': ([asked, sent]) => {
    expect(JSON.stringify(asked?.__interrupt__)).toContain('"send_email"');
    expect(lastOf(sent)).toBe('The email "lunch" was sent to ada@example.com.');
  },
  retrieval: ([answer]) => {
    expect(lastOf(answer)).toBe(
      'The shop opens at nine in the morning, and closes at six in the evening. (opening-hours.md)',
    );
  },
  'deep-agent': ([answer]) => {
    expect(answer?.todos?.map(({ content }) => content)).toEqual(['Look up the facts', 'Write the report']);
    expect(JSON.stringify(answer?.files?.['/report.md'])).toContain('Tea is the most common drink');
    expect(lastOf(answer)).toMatch(/^The report is in \/report.md\./);
  },
  'custom-auth': ([refused, noted, ada, bob]) => {
    expect(refused).toEqual({ detail: expect.stringContaining('Send one of the tokens') });
    expect(lastOf(noted)).toBe('Noted for ada: the milk is out');
    expect(lastOf(ada)).toBe('Notes of ada: the milk is out');
    expect(lastOf(bob)).toBe('Notes of bob: none');
  },
};

const KINDS = Object.keys(PROMISES).flatMap((template) => [
  { template, language: 'js' },
  { template, language: 'python' },
]);

it.each(KINDS)(
  '$template in $language, as made, has the conversation of its README',
  async ({ template, language }) => {
    const name = `new-${template}-${language}`;
    const folder = path.join(parent, name);
    const made = await runyard(['new', folder, '--template', template, '--language', language]);
    expect(made).toMatchObject({ code: 0 });
    await linkPackages(folder, language);
    const deployment = await createDeployment(name, folder);
    try {
      await waitUntilDeployed(deployment);
      const url = deployment.source_config.custom_url;
      if (template === 'custom-auth') {
        const headers = { authorization: 'Bearer ada-token' };
        const isLetIn = async () => (await fetch(`${url}/info`, { headers })).status === 200;
        await waitFor(isLetIn, { what: 'the gateway to let users of the project in' });
      }
      PROMISES[template]?.(await converse(path.join(folder, 'README.md'), url, template !== 'custom-auth'));
    } finally {
      await callControlPlane('DELETE', `/deployments/${deployment.id}`);
    }
  },
);

/** Puts the packages of a project where it looks for them, without installing them for each. */
async function linkPackages(folder: string, language: string): Promise<void> {
  if (language === 'js') return symlink(NODE_PACKAGES, path.join(folder, 'node_modules'));
  const python = await preparePython(PYTHON_REQUIREMENTS, PYTHON);
  return symlink(path.resolve(python, '../..'), path.join(folder, '.venv'));
}

/** Runs the first conversation of a README, and returns what is answered. */
async function converse(readme: string, url: string, needsKey: boolean): Promise<Answer[]> {
  const text = await readFile(readme, 'utf8');
  const script = /^## First conversation\n\n```sh\n(.*?)^```/ms.exec(text)?.[1] ?? '';
  // At the root of `runyard dev` there is no need for a key, which deployments here have.
  const curl = needsKey ? `curl() { command curl -H "x-api-key: $KEY" "$@"; }\n` : '';
  const { stdout } = await promisify(execFile)('sh', ['-c', curl + script.replaceAll('http://localhost:2024', url)], {
    env: { PATH: process.env.PATH, KEY: apiKey },
  });
  // Some answers end without a line break.
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Answer);
}
