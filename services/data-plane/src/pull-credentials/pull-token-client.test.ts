import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DesiredDeployment, PullTokenRequest } from '@runyard/contracts';
import { RevisionStartError } from '@runyard/deployments';
import { Cipher } from '@runyard/encryption';
import { silentLogger } from '@runyard/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlPlaneRefusedError } from '../link/control-plane-client.ts';
import { StateFile } from '../state/state-file.ts';
import { PullTokenClient } from './pull-token-client.ts';

const IMAGE = 'agents.example.com/registry/d/agent:v1';
const ACTIVE = { deploymentId: 'd', revisionId: 'active' };
const NEXT = { deploymentId: 'd', revisionId: 'next' };
const HOUR_MS = 3_600_000;
const cipher = new Cipher(Buffer.alloc(32, 7).toString('base64'));
const { signal } = new AbortController();

let folder: string;
let asked: PullTokenRequest[];
/** Errors that replace the next answers. */
let failures: Error[];
beforeEach(async () => {
  [asked, failures] = [[], []];
  folder = await mkdtemp(join(tmpdir(), 'runyard-pull-tokens-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts a data plane with the state that an earlier one stored. */
async function opened() {
  const stateFile = await StateFile.open(folder, cipher);
  const revisions = [
    { id: 'active', status: 'DEPLOYED', image: { uri: IMAGE } },
    { id: 'next', status: 'DEPLOYING', image: { uri: IMAGE } },
    { id: 'of a folder', status: 'DEPLOYED', image: null },
    { id: 'of an older platform', status: 'DEPLOYED' },
  ];
  stateFile.state.deployments = [{ id: 'd', revisions }] as unknown as DesiredDeployment[];
  const client = {
    pullToken: async (_: string, request: PullTokenRequest) => {
      asked.push(request);
      const failure = failures.shift();
      if (failure) throw failure;
      return {
        registry_host: 'agents.example.com',
        username: 'oauth2accesstoken',
        token: `token ${asked.length}`,
        expires_at: new Date().toISOString(),
      };
    },
  };
  const link = { sendOnce: <T>(request: (epoch: number, own: AbortSignal) => Promise<T>) => request(4, signal) };
  return new PullTokenClient({ stateFile, client, link, logger: silentLogger }).openCredentials(HOUR_MS);
}

const given = (password: string) => ({ host: 'agents.example.com', username: 'oauth2accesstoken', password });
const away = () => new TypeError('fetch failed');

describe("an image of the platform's registry", () => {
  it('is pulled with a token of the platform, which may be unavailable as long as the start may take', async () => {
    const credentialFor = await opened();
    failures = [away()];
    expect(await credentialFor(ACTIVE, IMAGE, signal)).toEqual(given('token 2'));
    expect(asked[1]).toEqual({ epoch: 4, image_uri: IMAGE, lifetime_seconds: 3600 });
    expect(await credentialFor(ACTIVE, 'registry.example.com/agent:v1', signal)).toBeUndefined();
    expect(await credentialFor({ ...ACTIVE, deploymentId: 'gone' }, IMAGE, signal)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it('that was pulled here before runs after a restart while the platform is unavailable', async () => {
    expect(await (await opened())(ACTIVE, IMAGE, signal)).toEqual(given('token 1'));
    const restarted = await opened();
    failures = [away()];
    expect(await restarted(ACTIVE, IMAGE, signal)).toEqual({ ...given('token 1'), isEarlier: true });
    expect(await restarted(ACTIVE, IMAGE, signal)).toEqual(given('token 3'));
  });

  it('is pulled for a new revision, even if an older one of that name was pulled and the platform is unavailable', async () => {
    const credentialFor = await opened();
    await credentialFor(ACTIVE, IMAGE, signal);
    failures = [away()];
    expect(await credentialFor(NEXT, IMAGE, signal)).toEqual(given('token 3'));
    failures = [away()];
    expect(await credentialFor(ACTIVE, IMAGE, signal)).toEqual({ ...given('token 3'), isEarlier: true });
  });

  it('does not run when the platform answers that it does not exist', async () => {
    await (await opened())(ACTIVE, IMAGE, signal);
    const credentialFor = await opened();
    failures = [new ControlPlaneRefusedError(404, 'Image not found.')];
    await expect(credentialFor(ACTIVE, IMAGE, signal)).rejects.toThrow(RevisionStartError);
    expect(asked).toHaveLength(2);
  });
});
