import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { list } from 'tar';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../src/cli-error.ts';
import { projectFolder, removeFolders, runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi, logEntry } from './support/control-plane.ts';

let platform: FakeControlPlaneApi;
beforeEach(async () => {
  platform = await new FakeControlPlaneApi().open();
});
afterEach(async () => {
  expect(platform.violations).toEqual([]);
  await platform.close();
});
afterAll(removeFolders);

const here = (folder: string, env: Record<string, string> = {}) => ({
  cwd: folder,
  env: { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY, ...env },
});
const deployRemote = (folder: string, ...args: string[]) => runyard(['deploy', '--remote', ...args], here(folder));

/** Returns the paths in the only archive that was uploaded. */
function uploadedFiles(): string[] {
  const [archive = Buffer.alloc(0), ...others] = platform.uploads.values();
  expect(others).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), 'runyard-cli-archive-'));
  const file = join(folder, 'a.tar.gz');
  writeFileSync(file, archive);
  const paths: string[] = [];
  list({ file, sync: true, onReadEntry: (entry) => paths.push(entry.path) });
  rmSync(folder, { recursive: true });
  return paths.sort();
}

describe('deploy --remote', () => {
  it('creates a deployment of type dev named after the folder, and waits until it serves', async () => {
    const ended = await deployRemote(projectFolder('My Agent'));
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    const [deployment] = [...platform.deployments.values()];
    expect(platform.requestsTo('POST', /deployments$/)[0]?.body).toEqual({
      name: 'my-agent',
      source: 'internal_source',
      source_config: { deployment_type: 'dev' },
      source_revision_config: {},
      secrets: [],
    });
    const [objectPath] = platform.uploads.keys();
    expect(platform.requestsTo('PATCH', /./)[0]?.body).toEqual({
      revision_source: 'internal_source',
      source_revision_config: { source_tarball_path: objectPath, langgraph_config_path: 'langgraph.json' },
      secrets: [],
    });
    expect(ended.out).toContain('Built by the platform, as --remote asks.');
    expect(ended.out).toContain(`URL         ${platform.url}/deployments/${deployment?.id}`);
  });

  it('finds the deployment of that name, and no other, and updates it in place', async () => {
    platform.addDeployment('agent-2');
    const deployment = platform.addDeployment('agent');
    expect((await deployRemote(projectFolder('agent'))).exitCode).toBe(0);
    expect(platform.requestsTo('POST', /deployments$/)).toEqual([]);
    expect(platform.requestsTo('PATCH', /./).map(({ path }) => path)).toEqual([`/v2/deployments/${deployment.id}`]);
    expect(platform.deployments.size).toBe(2);
  });

  it('prefers the name of --name to that of a variable, and this to that of the folder', async () => {
    const folder = projectFolder('folder', { '.env': 'LANGSMITH_DEPLOYMENT_NAME=from-file\n' });
    const quick = ['--no-wait', '--no-input'];
    await deployRemote(folder, ...quick);
    const flagged = await deployRemote(folder, ...quick, '--name', 'From Flag', '--deployment-type', 'prod');
    expect([...platform.deployments.values()].map(({ name }) => name)).toEqual(['from-file', 'from-flag']);
    expect(platform.requestsTo('POST', /deployments$/)[1]?.body.source_config).toEqual({ deployment_type: 'prod' });
    expect(flagged.out).toContain('The name is written from-flag.');
  });

  it('updates the deployment that --deployment-id names, and says that its type stays', async () => {
    const deployment = platform.addDeployment('other');
    const ended = await deployRemote(
      projectFolder('agent'),
      '--deployment-id',
      deployment.id,
      '--deployment-type',
      'prod',
    );
    expect(ended.exitCode).toBe(0);
    expect(ended.out).toContain("It is of the type dev and stays so: a deployment's type cannot change.");
    expect(platform.requestsTo('GET', /deployments$/)).toEqual([]);
  });

  it('sends the commands that install and build', async () => {
    await deployRemote(projectFolder('agent'), '--install-command', 'npm ci', '--build-command', 'npm run build');
    expect(platform.requestsTo('PATCH', /./)[0]?.body.source_config).toEqual({
      install_command: 'npm ci',
      build_command: 'npm run build',
    });
  });

  it('sends variables as secrets, without empty ones, reserved names, and those with its own key', async () => {
    const env = `MODEL_KEY=m\nEMPTY=\nPORT=1\nRUNYARD_URL=x\nLANGGRAPH_HOST_API_KEY=other\nLANGSMITH_API_KEY=tracing\nSAME=${API_KEY}\n`;
    const folder = projectFolder('agent', { '.env': env });
    const ended = await runyard(['deploy', '--remote', '--host-url', platform.url, '--api-key', API_KEY], {
      cwd: folder,
      env: {},
    });
    expect(ended.exitCode).toBe(0);
    const secrets = [
      { name: 'MODEL_KEY', value: 'm' },
      { name: 'LANGSMITH_API_KEY', value: 'tracing' },
    ];
    expect(platform.requestsTo('PATCH', /./)[0]?.body.secrets).toEqual(secrets);
    expect(platform.requestsTo('POST', /deployments$/)[0]?.body.secrets).toEqual(secrets);
    expect(ended.out).toContain('Not sent as secrets: PORT, RUNYARD_URL, LANGGRAPH_HOST_API_KEY, SAME.');
    expect(ended.out + ended.err).not.toContain(API_KEY);
  });

  it('uploads files that are not ignored, without links, generated files, and the file of the secrets', async () => {
    const folder = projectFolder('agent', {
      '.env': 'A=1\n',
      '.gitignore': '*.log\n/out\n',
      '.dockerignore': 'docs\n!docs/kept.md\n',
      'debug.log': '',
      'src/deep.log': '',
      'out/x.js': '',
      'src/out/x.js': '',
      'docs/a.md': '',
      'node_modules/a/index.js': '',
      'src/node_modules/b.js': '',
      '.git/HEAD': '',
      '.runyard/ready.json': '{}',
      '@scope/file.ts': '',
    });
    symlinkSync('/etc/passwd', join(folder, 'link'));
    symlinkSync('/etc', join(folder, 'src/folder-link'));
    const ended = await deployRemote(folder);
    expect(ended.exitCode).toBe(0);
    expect(uploadedFiles()).toEqual([
      './@scope/file.ts',
      '.dockerignore',
      '.gitignore',
      'langgraph.json',
      'package.json',
      'src/agent.ts',
      'src/out/x.js',
    ]);
    expect(ended.out).toContain('Symbolic links are left out: link, src/folder-link.');
  });

  it('reads no file outside the project, whatever langgraph.json names', async () => {
    const folder = projectFolder('agent', {
      'langgraph.json': '{"graphs": {"agent": "./src/agent.ts:graph"}, "env": "../outside"}',
    });
    writeFileSync(join(folder, '../outside'), 'TOKEN=1\n');
    const ended = await deployRemote(folder);
    expect(platform.requestsTo('PATCH', /./)[0]?.body.secrets).toEqual([]);
    expect(ended.out).toContain('"env" of langgraph.json names ../outside, outside the project: it is not read.');
  });

  it('says that the rest of a workspace is not sent, and that the platform ignores the base of an image', async () => {
    const folder = projectFolder('agent');
    writeFileSync(join(folder, '../package.json'), '{"workspaces":["*"]}');
    const ended = await deployRemote(folder, '--base-image', 'mine');
    expect(ended.out).toContain(`is a member of the workspace ${dirname(folder)}, of which nothing else is sent`);
    expect(ended.out).toContain('--base-image: of images built here.');
  });

  it('shows the log of the build while it runs, each line once', async () => {
    platform.statuses = ['QUEUED', 'BUILDING', 'BUILDING', 'DEPLOYING', 'DEPLOYED'];
    let count = 0;
    platform.onStatus = (status) => {
      if (status !== 'QUEUED') platform.logs.build.push(logEntry(++count));
    };
    const ended = await deployRemote(projectFolder('agent'));
    // The fourth line came when the server was started already.
    expect([...ended.out.matchAll(/\| (line \d)/g)].map(([, text]) => text)).toEqual(['line 1', 'line 2', 'line 3']);
  });

  it('shows the log of a build that ended before its begin was seen', async () => {
    platform.statuses = ['CREATING', 'BUILD_FAILED'];
    platform.logs.build.push(logEntry(1));
    expect((await deployRemote(projectFolder('agent'))).out).toContain('| line 1');
  });

  it('fails with the reason of a failed build, and with the last lines of a server that did not start', async () => {
    platform.statuses = ['BUILDING', 'BUILD_FAILED'];
    platform.statusMessage = 'npm ci ended with 1';
    const build = await deployRemote(projectFolder('agent'));
    expect(build.exitCode).toBe(1);
    expect(build.out).toContain('Failed (BUILD_FAILED): npm ci ended with 1');

    platform.statuses = ['DEPLOYING', 'DEPLOY_FAILED'];
    platform.statusMessage = 'not healthy';
    platform.logs.deploy.push(logEntry(1, { message: 'cannot find module x' }));
    const start = await deployRemote(projectFolder('agent'));
    expect(start.exitCode).toBe(1);
    expect(start.out).toMatch(/\| cannot find module x[\s\S]*Failed \(DEPLOY_FAILED\): not healthy/);
  });

  it('does not wait with --no-wait, and has a time limit otherwise', async () => {
    platform.statuses = ['BUILDING'];
    const quick = await deployRemote(projectFolder('agent'), '--no-wait');
    expect(quick).toMatchObject({ exitCode: 0, out: expect.stringContaining('nobody waits for it') });
    const slow = await deployRemote(projectFolder('agent'), '--timeout', '1');
    expect(slow).toMatchObject({ exitCode: 6, out: expect.stringContaining('The platform goes on with it.') });
  });

  it('prints each event as a line of JSON for programs', async () => {
    platform.statuses = ['BUILDING', 'DEPLOYED'];
    platform.logs.build.push(logEntry(1));
    const ended = await deployRemote(projectFolder('agent'), '--json');
    const [deployment] = [...platform.deployments.values()];
    const events = ended.events();
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(['step', 'info', 'note', 'upload_progress', 'status_url', 'status_change', 'log', 'result']),
    );
    expect(events.filter(({ event }) => event === 'status_change').map(({ status }) => status)).toEqual([
      'BUILDING',
      'DEPLOYED',
    ]);
    expect(events.filter(({ event }) => event === 'step').map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(events.at(-1)).toEqual({
      event: 'result',
      status: 'succeeded',
      message: 'Deployed.',
      deployment_id: deployment?.id,
      revision_id: deployment?.latest_revision_id,
      revision_status: 'DEPLOYED',
      url: `${platform.url}/deployments/${deployment?.id}`,
      status_url: expect.stringContaining(`${deployment?.latest_revision_id}`),
    });
  });

  it('leaves the revision to the platform when interrupted, and says how to look at it', async () => {
    const controller = new AbortController();
    platform.statuses = ['BUILDING'];
    platform.onStatus = () => controller.abort(new InterruptedError('SIGINT'));
    const ended = await runyard(['deploy', '--remote'], {
      ...here(projectFolder('agent')),
      interrupted: controller.signal,
    });
    expect(ended.exitCode).toBe(130);
    expect(ended.out).toContain('The platform goes on without this command.');
    expect(ended.err).toBe('Interrupted.\n');
  });
});

describe('when the network fails', () => {
  it('a creation that was executed is not executed again', async () => {
    platform.fail('POST', /deployments$/, 'cut after');
    expect((await deployRemote(projectFolder('agent'), '--no-wait')).exitCode).toBe(0);
    const creations = platform.requestsTo('POST', /deployments$/);
    expect(creations).toHaveLength(2);
    expect(creations[0]?.headers['idempotency-key']).toBe(creations[1]?.headers['idempotency-key']);
    expect(platform.deployments.size).toBe(1);
  });

  it.each(['cut', 'cut after'] as const)('a change whose answer is lost makes one revision (%s)', async (fault) => {
    platform.fail('PATCH', /./, fault);
    expect((await deployRemote(projectFolder('agent'))).exitCode).toBe(0);
    const [deployment] = [...platform.deployments.values()];
    // The first revision is that of the creation.
    expect(platform.revisions.get(deployment?.id ?? '')).toHaveLength(2);
  });

  it('an upload that breaks starts over', async () => {
    platform.fail('PUT', /upload/, 'cut');
    platform.fail('PUT', /upload/, { status: 503, headers: { 'retry-after': '0' } });
    expect((await deployRemote(projectFolder('agent'))).exitCode).toBe(0);
    expect(platform.requestsTo('PUT', /upload/)).toHaveLength(3);
    expect(uploadedFiles()).toContain('langgraph.json');
  });

  it('a platform that cannot be reached is reported as such', async () => {
    const gone = await new FakeControlPlaneApi().open();
    const { url } = gone;
    await gone.close();
    const ended = await runyard(['deploy', '--host-url', url, '--api-key', 'k'], { cwd: projectFolder('agent') });
    expect(ended.exitCode).toBe(5);
    expect(ended.err).toMatch(/^GET http:\S+\/v2\/deployments got no answer: .*ECONNREFUSED/);
  });
});
