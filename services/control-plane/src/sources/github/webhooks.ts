import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DeploymentPatch, GithubDelivery, GithubWebhook, Revision, SourceConfig } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import { reasonToIgnorePush } from '@runyard/git-servers';
import { BadRequestError, type Principal, type Tenant, tenantOf, UnauthorizedError } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import type { PrismaClient } from '../../generated/client.ts';
import { deploymentStore } from '../../revisions/deployment-store.ts';
import { webhookStore } from './webhook-store.ts';

export interface WebhooksOptions {
  prisma: PrismaClient;
  cipher: Cipher;
  /** The public base URL of the gateway. */
  publicUrl: string;
  /** Creates a revision in one transaction with `claim`. Returns null when `claim` says that it was created before. */
  createRevision(
    tenant: Tenant,
    deploymentId: string,
    patch: DeploymentPatch,
    claim: (transaction: Queries) => Promise<boolean>,
  ): Promise<Pick<Revision, 'id'> | null>;
}

/** An unauthenticated request to a webhook, whose body has not been read yet. */
export interface WebhookRequest {
  /** The value of the signature header. */
  signature: string;
  /** Reads the body into memory. */
  read(): Promise<Buffer>;
  /** Reads the body in pieces and stores none. */
  pass(take: (chunk: Buffer) => void): Promise<void>;
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** Builds pushed commits for deployments that build on push. */
export class GithubWebhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Returns the webhook's settings. The first call creates its secret. */
  async settings(caller: Principal, deploymentId: string): Promise<GithubWebhook> {
    const { prisma, cipher } = this.#options;
    await this.#mustBeGithub(caller, deploymentId);
    const encrypted = await webhookStore.keepSecret(prisma, deploymentId, this.#newSecret(deploymentId));
    return this.#describe(deploymentId, cipher.decrypt(encrypted, place(deploymentId)));
  }

  async replaceSecret(caller: Principal, deploymentId: string): Promise<GithubWebhook> {
    const { prisma, cipher } = this.#options;
    await this.#mustBeGithub(caller, deploymentId);
    const encrypted = this.#newSecret(deploymentId);
    await webhookStore.replaceSecret(prisma, deploymentId, encrypted);
    return this.#describe(deploymentId, cipher.decrypt(encrypted, place(deploymentId)));
  }

  /** @throws UnauthorizedError when the signature does not match the body */
  async receive(deploymentId: string, delivery: WebhookRequest): Promise<GithubDelivery> {
    const { prisma } = this.#options;
    const body = await this.#signedBody(deploymentId, delivery);
    const deployment = await webhookStore.findDeployment(prisma, deploymentId);
    if (!deployment) return { revision_id: null, ignored: 'the deployment is being deleted' };
    // A revision of another source may have been created since. The repository's last settings still count.
    const { repo_ref, langgraph_config_path } = await webhookStore.findBranch(prisma, deploymentId);
    const { organizationId, workspaceId } = deployment;
    const { repo_url, build_on_push } = deployment.sourceConfig as SourceConfig;
    const built = { repoUrl: repo_url, buildsOnPush: build_on_push === true, ref: repo_ref };
    const reason = reasonToIgnorePush(body, built);
    if (reason !== null) return { revision_id: null, ignored: reason };

    // The body contains the time of the push, so no two pushes have the same digest, but a repeated delivery has.
    const digest = Uint8Array.from(createHash('sha256').update(body).digest());
    const revision = await this.#options.createRevision(
      { organizationId, workspaceId },
      deploymentId,
      { revision_source: 'github', source_revision_config: { repo_ref, langgraph_config_path } },
      (transaction) => webhookStore.claim(transaction, deploymentId, digest),
    );
    if (!revision) return { revision_id: null, ignored: 'this push was delivered before' };
    return { revision_id: revision.id, ignored: null };
  }

  async #signedBody(deploymentId: string, { signature, read, pass }: WebhookRequest): Promise<Buffer> {
    const { prisma, cipher } = this.#options;
    if (!SIGNATURE.test(signature)) throw invalidSignature();
    const encrypted = await webhookStore.findSecret(prisma, deploymentId);
    if (encrypted === null) {
      // A stranger must not find out that the deployment or its secret does not exist. The body takes as long as any
      // other, and no memory.
      const hash = createHmac('sha256', '');
      await pass((chunk) => void hash.update(chunk));
      throw invalidSignature();
    }
    const body = await read();
    const hash = createHmac('sha256', cipher.decrypt(encrypted, place(deploymentId))).update(body);
    const expected = Buffer.from(`sha256=${hash.digest('hex')}`);
    if (!timingSafeEqual(Buffer.from(signature), expected)) throw invalidSignature();
    return body;
  }

  async #mustBeGithub(caller: Principal, deploymentId: string): Promise<void> {
    const tenant = tenantOf(caller);
    const deployment = await deploymentStore.get(this.#options.prisma, tenant, deploymentId);
    if (deployment.source !== 'github') {
      throw new BadRequestError("Webhooks are only available for 'github' source deployments.", {
        code: 'source_unsuitable',
      });
    }
  }

  #newSecret(deploymentId: string): string {
    return this.#options.cipher.encrypt(randomBytes(32).toString('base64url'), place(deploymentId));
  }

  #describe(deploymentId: string, secret: string): GithubWebhook {
    const base = this.#options.publicUrl.replace(/(?<!\/)\/+$/, '');
    return {
      payload_url: `${base}/v1/integrations/github/webhooks/${deploymentId}`,
      content_type: 'application/json',
      secret,
      events: ['push'],
    };
  }
}

function invalidSignature(): UnauthorizedError {
  return new UnauthorizedError('The signature does not match', { code: 'webhook_signature_invalid' });
}

const place = (deploymentId: string) => `deployment/${deploymentId}/github-webhook`;
