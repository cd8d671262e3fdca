import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ENGINE, engineCalls, engineVariables } from '@runyard/test-kit/fake-engine';
import { afterEach, beforeEach, expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../..');
const ID = 'sha256:0123456789ab';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-engine-'));
  await symlink(ENGINE, join(folder, 'docker'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command with a fake engine. */
function images(args: string[], env: Record<string, string | undefined> = {}): Promise<Outcome> {
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  const options = { env: { ...process.env, PATH, ...engineVariables(folder), ...env } };
  return new Promise((resolve) => {
    const words = [join(repository, 'infra/bootstrap.mjs'), 'images', ...args];
    execFile(process.execPath, words, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr: stderr.trim() }),
    );
  });
}

/** Returns the arguments of each call that builds or pushes. */
async function listBuilds(): Promise<string[][]> {
  const calls = (await engineCalls(folder)).map(({ args }) => args);
  return calls.filter(([verb, word]) => verb === 'build' || verb === 'push' || word === 'build');
}

/** Returns the values of an option that is repeated. */
function valuesOf(option: string, args: string[] = []): string[] {
  return args.filter((_, index) => args[index - 1] === option);
}

it('one command builds an image of each service and the base of deployments, and prints a line for each', async () => {
  const { code, stdout } = await images([]);
  const services = await readdir(join(repository, 'services'));
  expect(stdout.trim().split('\n')).toEqual([
    ...services.map((service) => `runyard/${service}:0.1.0  ${ID}  312 MB`),
    `runyard/agent-server:0.1.0 runyard/agent-server:20  ${ID}  312 MB`,
  ]);
  expect(code).toBe(0);
});

it('an image has labels that say what it is, of which commit, and what it is built from', async () => {
  await images(['data-plane', '--tag', 'nightly', '--network', 'host']);
  const [build, ...others] = await listBuilds();
  expect(others).toEqual([]);
  expect(build).toEqual(expect.arrayContaining(['--network', 'host', '--file', 'services/data-plane/Dockerfile']));
  expect(valuesOf('--tag', build)).toEqual(['runyard/data-plane:nightly']);
  const labels = valuesOf('--label', build).map((label) => label.replace('org.opencontainers.image.', ''));
  expect(labels).toEqual(
    expect.arrayContaining([
      'title=Runyard data-plane',
      'description=Runs deployments: their databases, roll-outs, processes, containers or pods.',
      'version=0.1.0',
      expect.stringMatching(/^revision=[0-9a-f]{40}(-dirty)?$/),
      expect.stringMatching(/^created=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      'licenses=Apache-2.0',
      'base.name=docker.io/library/node:20-bookworm',
    ]),
  );
});

it('without BuildKit an image is built, then pushed, and its line has the digest at the registry', async () => {
  const { stdout } = await images(['--push', '--registry', 'registry.example.com:5000/runyard/', 'agent-server']);
  const name = 'registry.example.com:5000/runyard/agent-server';
  expect((await listBuilds()).map(([verb, word]) => (verb === 'push' ? [verb, word] : [verb]))).toEqual([
    ['build'],
    ['push', `${name}:0.1.0`],
    ['push', `${name}:20`],
  ]);
  expect(stdout).toBe(`${name}:0.1.0 ${name}:20  sha256:fedcba987654  312 MB\n`);
});

it.each([
  ['a builder of its own attests what it pushes', 'docker-container', ['--push'], ['--push'], true],
  ['what a builder of its own hands over to the engine is not attested', 'docker-container', [], ['--load'], false],
  ['an engine whose store holds no attestations is asked for none', 'docker', ['--push'], ['--load'], false],
])('with BuildKit, %s', async (_, driver, flags, expected, isAttested) => {
  const args = ['gateway', '--registry', 'registry.example.com', ...flags];
  const { code, stderr } = await images(args, { DOCKER_FAKE_BUILDX: driver });
  expect([code, stderr]).toEqual([0, '']);
  const [build] = await listBuilds();
  expect(build?.slice(0, 2)).toEqual(['buildx', 'build']);
  expect(build).toEqual(expect.arrayContaining(expected));
  expect(build?.includes('--provenance=mode=max')).toBe(isAttested);
});

it.each([
  [
    'no engine',
    [],
    { DOCKER_FAKE_IS_DOWN: '1' },
    'A container engine is needed, as `docker` reaches it: Cannot connect',
  ],
  ['no docker', [], { PATH: '/nowhere' }, 'there is none on the PATH.'],
  ['an unknown image', ['gateway', 'consle'], {}, 'There is no image consle, only agent-api, builder,'],
  [
    'an unknown option',
    ['--tags', 'a'],
    {},
    'npm run images takes --tag, --registry, --push, --platform, --network and',
  ],
  ['a push to nowhere', ['--push'], {}, 'Say where to push:'],
  ['several platforms', ['--platform', 'linux/amd64,linux/arm64'], {}, 'Images for several platforms need `docker'],
  [
    'a build that fails',
    ['gateway', 'registry'],
    { DOCKER_FAKE_BROKEN_DOCKERFILE: 'services/gateway/Dockerfile' },
    'Building runyard/gateway:0.1.0 failed (1).\nfailed to solve: npm was killed',
  ],
])('%s is said in a sentence, and nothing more is built', async (_, args, env, sentence) => {
  const { code, stdout, stderr } = await images(args, env);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain('    at ');
  expect([code, stdout]).toEqual([1, '']);
  expect((await listBuilds()).length).toBeLessThanOrEqual(1);
});
