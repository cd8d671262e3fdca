import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { newClient } from './client.ts';
import type { Deployment } from './control-plane.ts';
import { startRunyard } from './runyard-cli.ts';

/** A platform that this process did not start, as a caller with a key knows it. */
export class Platform {
  readonly url: string;
  readonly apiKey: string;

  constructor(url: string, apiKey: string) {
    this.url = url;
    this.apiKey = apiKey;
  }

  /** Sends a request to control-plane. @throws when it is refused */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/v2${path}`, {
      method,
      headers: { 'x-api-key': this.apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Runs the `runyard` command in a folder, as the person at this machine does. @throws when it fails */
  async runyard(args: string[], folder: string): Promise<string> {
    const { HOME, DOCKER_HOST } = process.env;
    const variables = {
      RUNYARD_URL: this.url,
      RUNYARD_API_KEY: this.apiKey,
      ...(HOME && { HOME }),
      ...(DOCKER_HOST && { DOCKER_HOST }),
    };
    const { code, output } = await startRunyard(args, folder, variables).ended;
    if (code !== 0) throw new Error(`runyard ${args.join(' ')} ended with ${code}: ${output}`);
    return output;
  }

  /** Returns the only deployment of a name. */
  async find(name: string): Promise<Deployment> {
    const { resources } = await this.call<{ resources: Deployment[] }>('GET', `/deployments?name=${name}`);
    if (resources.length !== 1) throw new Error(`there are ${resources.length} deployments ${name}`);
    return resources[0] as Deployment;
  }

  /** Waits until the newest revision of a deployment serves. @throws when that fails */
  async waitUntilDeployed({ id }: { id: string }): Promise<void> {
    const { latest_revision_id: revision } = await this.call<Deployment>('GET', `/deployments/${id}`);
    for (;;) {
      const path = `/deployments/${id}/revisions/${revision}`;
      const { status, ...rest } = await this.call<{ status: string }>('GET', path);
      if (status === 'DEPLOYED') return;
      if (/FAILED|INTERRUPTED|SKIPPED/.test(status)) throw new Error(`${status}: ${JSON.stringify(rest)}`);
      await delay(500);
    }
  }

  /** Returns the lines that the build of a revision has written so far. */
  async buildLog(deploymentId: string, revisionId: string): Promise<string[]> {
    const response = await fetch(`${this.url}/v1/projects/${deploymentId}/revisions/${revisionId}/build_logs`, {
      method: 'POST',
      headers: { 'x-api-key': this.apiKey, 'content-type': 'application/json' },
      body: '{}',
    });
    if (!response.ok) throw new Error(`the log of a build answered ${response.status}: ${await response.text()}`);
    const { logs } = (await response.json()) as { logs: { message: string }[] };
    return logs.map(({ message }) => message);
  }

  client({ source_config }: Deployment): Client {
    return newClient({ apiUrl: source_config.custom_url, apiKey: this.apiKey });
  }

  /** Deletes a deployment and waits for its end. */
  async delete({ id }: { id: string }): Promise<void> {
    await this.call('DELETE', `/deployments/${id}`);
    const isGone = () =>
      this.call('GET', `/deployments/${id}`).then(
        () => false,
        (error) => /404/.test(String(error)),
      );
    await waitFor(isGone, { what: `the end of the deployment ${id}` });
  }
}
