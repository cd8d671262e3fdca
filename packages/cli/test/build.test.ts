import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { projectFolder, removeFolders, runyard } from './support/command.ts';
import { FakeDocker } from './support/fake-docker.ts';

let docker: FakeDocker;
beforeEach(() => {
  docker = new FakeDocker();
});
afterEach(() => rmSync(docker.folder, { recursive: true }));
afterAll(removeFolders);

const build = (args: string[], folder = projectFolder('agent')) =>
  runyard(['build', ...args], { cwd: folder, env: { PATH: docker.path } });
const builds = () => docker.calls().filter(({ files }) => files !== undefined);
/** The platform that images of this machine are for, and another one. */
const [own, foreign] = arch() === 'x64' ? ['linux/amd64', 'linux/arm64'] : [`linux/${arch()}`, 'linux/amd64'];

describe('runyard build', () => {
  it('builds an image with the files and the installation of the project, and needs no platform', async () => {
    const files = {
      'package-lock.json': '{}',
      '.env': 'RUNYARD_API_KEY=secret\n',
      '.dockerignore': './src/other.ts\n',
    };
    const folder = projectFolder('agent', files);
    const ended = await build(['-t', 'mine:1', '--platform', own], folder);
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    expect(ended.out).toMatch(/\| Step 1\/6 : FROM\nBuilt mine:1\.\n$/);
    const [call] = builds();
    expect(call?.args).toEqual(['build', '-f', '-', '-t', 'mine:1', '<folder>']);
    expect(call?.files).toEqual(['langgraph.json', 'package-lock.json', 'package.json', 'src', 'src/agent.ts']);
    expect(call?.input).toMatch(/^FROM runyard\/agent-server:20\n[\s\S]*\nRUN npm ci --no-audit --no-fund\n$/);
    expect(JSON.stringify(docker.calls())).not.toContain('secret');
    expect(docker.calls().some(({ args }) => args.includes('push'))).toBe(false);
  });

  it('takes the options of langgraph build, and passes others on to docker', async () => {
    const commands = ['--install-command', 'make install', '--build-command', 'make'];
    const others = ['--build-arg', 'STAGE=test', '--secret=id=npm'];
    await build(['--tag', 'mine:1', '--platform', own, '--base-image', 'base:2', '--pull', ...commands, ...others]);
    const [call] = builds();
    expect(call?.args).toEqual(['build', '--pull', ...others, '-f', '-', '-t', 'mine:1', '<folder>']);
    expect(call?.input).toMatch(/^FROM base:2\n[\s\S]*make install\nRUN .*make\n$/);
  });

  it('builds for other machines by buildx, and keeps the image unless it goes elsewhere', async () => {
    await build(['-t', 'mine:1', '--platform', foreign, '--no-pull']);
    await build(['-t', 'mine:1', '--platform', `${own},${foreign}`, '--', '--push']);
    expect(builds().map(({ args }) => args.slice(0, -5))).toEqual([
      ['buildx', 'build', '--platform', foreign, '--load'],
      ['buildx', 'build', '--platform', `${own},${foreign}`, '--push'],
    ]);
  });

  it('reports to programs, one event a line', async () => {
    const events = (await build(['-t', 'mine:1', '--json'])).events();
    expect(events.at(-1)).toEqual({ event: 'result', status: 'succeeded', message: 'Built mine:1.', image: 'mine:1' });
  });

  it('fails with the build, and leaves no files behind', async () => {
    const folder = projectFolder('agent');
    const temporary = mkdtempSync(join(tmpdir(), 'build-'));
    // Other tests of images run at the same time.
    vi.stubEnv('TMPDIR', temporary);
    docker.fail('build', 'buildx build');
    expect(await build(['-t', 'mine:1'], folder)).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('| docker: build'),
      err: expect.stringMatching(/^The image could not be built/),
    });
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });

  it.each<[string, string[], string]>([
    ['no tag', [], "required option '-t, --tag <tag>' not specified"],
    ['an empty tag', ['-t', ''], 'It is empty.'],
    ['a pull of what nobody publishes', ['-t', 'x', '--pull'], '--pull needs --base-image'],
    ['another Dockerfile', ['-t', 'x', '-f', 'Dockerfile'], '-f is not passed on'],
    ['a folder without a project', ['-t', 'x', '-c', 'src'], 'has no langgraph.json'],
  ])('refuses %s with a sentence', async (_, args, sentence) => {
    const ended = await build(args);
    expect(ended).toMatchObject({ exitCode: 2, err: expect.stringContaining(sentence) });
    expect(builds()).toEqual([]);
  });

  it.each([
    ['no engine', 'info', 'no container engine runs on this machine.'],
    ['no base image', 'image inspect', 'the image runyard/agent-server:20 is not on this machine'],
  ])('says what is missing: %s', async (_, call, sentence) => {
    docker.fail(call);
    expect(await build(['-t', 'x'])).toMatchObject({ exitCode: 2, err: expect.stringContaining(sentence) });
  });
});
