import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { copyProject } from '../harness/official-cli.ts';
import type { Platform } from '../harness/remote-platform.ts';
import { type Pod, runKubectl } from './kubectl.ts';

/** The attempts of a hostile build, as `projects/hostile-build/probe.mjs` reads them. */
export interface HostileTarget {
  /** Files and folders to read. */
  paths: string[];
  /** `host port` each. */
  addresses: string[];
  /** Files to write outside of its own folders. */
  leftovers: string[];
  /** How long a process sleeps that it leaves. */
  sleepSeconds: number;
}

export interface HostileOutcome {
  /** The content of each path, or the code of the error. */
  paths: Record<string, string>;
  /** Names of all variables in the environments that it could read. */
  variables: string[];
  /** True for each address that answered. */
  addresses: Record<string, boolean>;
  /** The files that it has written, and codes of errors in place of others. */
  left: string[];
}

/** Runs a shell command in the first container of a pod, as the user of the service; returns what it prints. */
export function runInPod({ metadata: { name, namespace } }: Pod, command: string): Promise<string> {
  return runKubectl('exec', name, '--namespace', namespace as string, '--', 'sh', '-c', command);
}

/** Returns whether something answers a connection from the pod. */
export async function canConnectFrom(pod: Pod, { host, port }: { host: string; port: number }): Promise<boolean> {
  const script =
    `require("node:net").connect({host:"${host}",port:${port},timeout:3000})` +
    '.on("connect",()=>{console.log("connected");process.exit()}).on("timeout",()=>process.exit())' +
    '.on("error",()=>process.exit())';
  return (await runInPod(pod, `node -e '${script}'`)) === 'connected';
}

/**
 * Begins a build that goes on until its deployment is deleted, and whose files have a secret.
 *
 * @returns the id of its deployment, and its folder in the pod, where the build goes on
 */
export async function beginBuild(platform: Platform, builder: Pod, secret: string) {
  const project = await copyProject('hostile-build');
  try {
    await writeFile(path.join(project.folder, 'secret.txt'), secret);
    const { id } = await deploy(platform, project.folder, 'victim', 'sleep 3600');
    // A build's folder is named by nothing of its deployment.
    const find = () => runInPod(builder, `grep -lx '${secret}' /data/projects/*/secret.txt`);
    const file = await waitFor(find, { what: 'a build that has its files in its pod', intervalMs: 500 });
    return { id, folder: path.dirname(file) };
  } finally {
    await project.remove();
  }
}

/** Builds the hostile project, and returns what it found once its revision has failed. Its deployment stays. */
export async function runHostileBuild(platform: Platform, target: HostileTarget): Promise<HostileOutcome> {
  const project = await copyProject('hostile-build');
  try {
    await writeFile(path.join(project.folder, 'target.json'), JSON.stringify(target));
    const { id, latest_revision_id: revision } = await deploy(platform, project.folder, 'hostile', 'node probe.mjs');
    await waitFor(
      async () =>
        (await platform.call<{ status: string }>('GET', `/deployments/${id}/revisions/${revision}`)).status ===
        'BUILD_FAILED',
      { what: 'the end of a build', intervalMs: 500 },
    );
    const line = (await platform.buildLog(id, revision)).find((message) => message.startsWith('OUTCOME '));
    return JSON.parse((line as string).slice('OUTCOME '.length)) as HostileOutcome;
  } finally {
    await project.remove();
  }
}

async function deploy(platform: Platform, folder: string, name: string, installCommand: string) {
  const words = ['deploy', '--remote', '--no-wait', '--no-input', '--name', name, '--install-command', installCommand];
  await platform.runyard(words, folder);
  return platform.find(name);
}
