import { rmSync } from 'node:fs';
import { arch } from 'node:os';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LANGGRAPH_JSON, projectFolder, removeFolders, runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi } from './support/control-plane.ts';
import { FakeDocker } from './support/fake-docker.ts';

let platform: FakeControlPlaneApi;
let docker: FakeDocker;
beforeEach(async () => {
  platform = await new FakeControlPlaneApi().open();
  docker = new FakeDocker();
});
afterEach(async () => {
  expect(platform.violations).toEqual([]);
  await platform.close();
  rmSync(docker.folder, { recursive: true });
});
afterAll(removeFolders);

const deploy = (args: string[] = [], folder = projectFolder('agent')) =>
  runyard(['deploy', ...args], {
    cwd: folder,
    env: { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY, PATH: docker.path },
  });
const builds = () => docker.calls().filter(({ files }) => files !== undefined);
const patched = () => platform.requestsTo('PATCH', /./)[0]?.body;

describe('deploy where an engine runs', () => {
  it('builds an image, pushes it with a short-lived login, and deploys it by its digest', async () => {
    const ended = await deploy();
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    expect(ended.out).toContain('Built on this machine, where a container engine runs');
    const [deployment] = [...platform.deployments.values()];
    expect(deployment?.source).toBe('internal_docker');
    const registry = `registry.example.com:5000/d/${deployment?.id}`;
    const temporary = builds()[0]?.args.find((arg) => arg.startsWith('runyard-deploy:')) ?? '';
    const build = arch() === 'x64' ? ['build'] : ['buildx', 'build', '--platform', 'linux/amd64', '--load'];
    expect(docker.calls().map(({ args }) => args)).toEqual([
      ['info', '--format', '{{.ServerVersion}}'],
      ...(arch() === 'x64' ? [] : [['buildx', 'version']]),
      ['image', 'inspect', 'runyard/agent-server:20'],
      [...build, '-f', '-', '-t', temporary, '<folder>'],
      ['tag', temporary, `${registry}/agent:latest`],
      ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'],
      ['--config', 'login', '-u', 'oauth2accesstoken', '--password-stdin', 'registry.example.com:5000'],
      ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'],
      ['--config', 'push', `${registry}/agent:latest`],
      ['image', 'inspect', '--format', '{{json .RepoDigests}}', `${registry}/agent:latest`],
      ['image', 'rm', temporary],
    ]);
    const login = docker.calls().find(({ args }) => args.includes('login'));
    expect(login).toMatchObject({ input: 'push-token', dockerHost: 'unix:///run/other.sock' });
    expect(patched()).toEqual({
      revision_source: 'internal_docker',
      source_revision_config: { image_uri: `${registry}/agent@sha256:0123` },
      secrets: [],
    });
  });

  it("puts the project's files into the image, installs them, and sets variables for its graphs and its auth", async () => {
    const config = { ...JSON.parse(LANGGRAPH_JSON), auth: { path: './src/"auth$.ts:auth' } };
    const folder = projectFolder('agent', {
      'langgraph.json': JSON.stringify(config),
      'package-lock.json': '{}',
      '.env': 'KEY=1\n',
      'node_modules/a/index.js': '',
    });
    await deploy(['--base-image', 'mine/base:2', '--build-command', 'npm run build'], folder);
    const [build] = builds();
    expect(build?.files).toEqual(['langgraph.json', 'package-lock.json', 'package.json', 'src', 'src/agent.ts']);
    expect(build?.input?.split('\n')).toEqual([
      'FROM mine/base:2',
      'COPY --chown=node:node . /deps/project',
      'WORKDIR /deps/project',
      'ENV LANGSERVE_GRAPHS="{\\"agent\\":\\"./src/agent.ts:graph\\"}"',
      'ENV LANGGRAPH_AUTH="{\\"path\\":\\"./src/\\\\\\"auth\\$.ts:auth\\"}"',
      'ENV PROJECT_DIR=/deps/project LANGGRAPH_CONFIG_PATH="langgraph.json"',
      'RUN unset NODE_ENV && npm ci --no-audit --no-fund',
      'RUN unset NODE_ENV && npm run build',
      '',
    ]);
  });

  it('installs by the files in the image, not by a lock file that an ignore file excludes', async () => {
    await deploy([], projectFolder('agent', { 'pnpm-lock.yaml': '', '.gitignore': 'pnpm-lock.yaml\n' }));
    expect(builds()[0]?.input).toContain('\nRUN npm i --no-audit --no-fund\n');
  });

  it('explains why a project cannot be installed', async () => {
    const ended = await deploy([], projectFolder('agent', { 'deno.lock': '' }));
    expect(ended).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('npm, pnpm, yarn and bun install packages'),
    });
    expect(builds()).toEqual([]);
  });

  it('names the image and its tag as requested, and deploys an existing one with --image', async () => {
    await deploy(['--image', 'mine:1', '--image-name', 'My Image', '-t', 'v2']);
    const [deployment] = [...platform.deployments.values()];
    expect(builds()).toEqual([]);
    expect(docker.calls()[0]?.args).toEqual([
      'tag',
      'mine:1',
      `registry.example.com:5000/d/${deployment?.id}/my-image:v2`,
    ]);
    expect(docker.calls().some(({ args }) => args.includes('rm'))).toBe(false);
  });

  it.each([
    [['--install-command', 'npm ci', '--base-image', 'mine'], '--install-command and --base-image'],
    [['--build-command', 'make'], '--build-command'],
  ])('refuses options for a build together with --image: %j', async (flags, named) => {
    const ended = await deploy(['--image', 'mine:1', ...flags]);
    expect(ended).toMatchObject({ exitCode: 2, err: `--image is built already: leave ${named} out.\n` });
  });

  it('pushes again when a push fails, three times in all', async () => {
    docker.fail('push', 'push');
    expect((await deploy()).exitCode).toBe(0);
    docker.fail('push', 'push', 'push');
    const ended = await deploy();
    expect(ended).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('The image could not be pushed:\ndocker: push is made to fail'),
    });
  });

  it('shows the output of the build, and fails with it', async () => {
    docker.fail('build', 'buildx build');
    const ended = await deploy();
    expect(ended.exitCode).toBe(1);
    expect(ended.out).toContain('| docker: build');
    expect(platform.requestsTo('PATCH', /./)).toEqual([]);
  });

  it('uses the tag when the engine knows no digest', async () => {
    docker.fail('image inspect --format');
    expect((await deploy()).out).toContain('it is deployed by its tag');
    expect(patched().source_revision_config.image_uri).toMatch(/\/agent:latest$/);
  });

  it('explains what to do about a deployment that accepts no images', async () => {
    const { id } = platform.addDeployment('agent', { source: 'internal_docker' });
    const detail = "Push tokens are only available for 'internal_docker' source deployments.";
    platform.fail('POST', /push-token/, { status: 400, body: { detail } });
    const ended = await deploy();
    expect(ended.err).toContain(`The deployment ${id} takes no images from here: use --remote`);
  });
});

describe('the builder', () => {
  it.each([
    ['no engine', ['info'], 'Built by the platform: no container engine runs on this machine.'],
    [
      'no base image',
      ['image inspect'],
      'Built by the platform: the image runyard/agent-server:20 is not on this machine',
    ],
  ])('is the platform where there is %s', async (_, failures, sentence) => {
    docker.fail(...failures);
    const ended = await deploy();
    expect(ended).toMatchObject({ exitCode: 0, out: expect.stringContaining(sentence) });
    expect(patched().revision_source).toBe('internal_source');
  });

  it('is the platform for a deployment that it built earlier', async () => {
    platform.addDeployment('agent', { source: 'internal_source' });
    expect((await deploy()).exitCode).toBe(0);
    expect(patched().revision_source).toBe('internal_source');
    expect(docker.calls()).toEqual([]);
  });

  it('is missing with --no-remote and without an engine', async () => {
    docker.fail('info');
    expect(await deploy(['--no-remote'])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('no container engine runs on this machine.'),
    });
    expect(platform.deployments.size).toBe(0);
  });
});
