import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  conforms,
  type DeploymentPatch,
  type GithubDelivery,
  GithubPushEvent,
  type GithubWebhook,
  type Revision,
  type SourceConfig,
} from '@runyard/contracts';
import type { Sealer } from '@runyard/sealing';
import { BadRequestError, NotFoundError, type Principal, UnauthorizedError } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import { tenantOf } from '../../deployments/caller-scope.ts';
import { deploymentStore } from '../../deployments/deployment-store.ts';
import type { Deployment, PrismaClient } from '../../generated/client.ts';
import { fullRef, isSameRepository } from './repository-url.ts';
import { webhookStore } from './webhook-store.ts';

export interface WebhooksOptions {
  prisma: PrismaClient;
  sealer: Sealer;
  /** Base URL of the gateway as clients know it. */
  publicUrl: string;
  /** Makes a revision, in one transaction with `claim`; null when that says that it was made before. */
  createRevision(
    caller: Principal,
    deploymentId: string,
    patch: DeploymentPatch,
    claim: (transaction: Queries) => Promise<boolean>,
  ): Promise<Pick<Revision, 'id'> | null>;
}

/** What comes to the address of a webhook, from anybody: its body is not read yet. */
export interface Delivery {
  /** As the header has it. */
  signature: string;
  /** Keeps the body in memory. */
  read(): Promise<Buffer>;
  /** Takes the body piece by piece, and keeps none of it. */
  pass(take: (chunk: Buffer) => void): Promise<void>;
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** Builds what is pushed to the branches of deployments that ask for it. */
export class GithubWebhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Its secret is made when it is asked for the first time. */
  async settings(caller: Principal, deploymentId: string): Promise<GithubWebhook> {
    const { prisma, sealer } = this.#options;
    await this.#mustBeGithub(caller, deploymentId);
    const sealed = await webhookStore.keepSecret(prisma, deploymentId, this.#newSecret(deploymentId));
    return this.#describe(deploymentId, sealer.open(sealed, place(deploymentId)));
  }

  async replaceSecret(caller: Principal, deploymentId: string): Promise<GithubWebhook> {
    const { prisma, sealer } = this.#options;
    await this.#mustBeGithub(caller, deploymentId);
    const sealed = this.#newSecret(deploymentId);
    await webhookStore.replaceSecret(prisma, deploymentId, sealed);
    return this.#describe(deploymentId, sealer.open(sealed, place(deploymentId)));
  }

  /** @throws UnauthorizedError when the signature is not that of the body */
  async receive(deploymentId: string, delivery: Delivery): Promise<GithubDelivery> {
    const { prisma } = this.#options;
    const body = await this.#signedBody(deploymentId, delivery);
    const deployment = await webhookStore.findDeployment(prisma, deploymentId);
    if (!deployment) return { revision_id: null, ignored: 'the deployment is being deleted' };
    // A revision from elsewhere may have come meanwhile: it took nothing of the branch away.
    const { repo_ref, langgraph_config_path } = await webhookStore.findBranch(prisma, deploymentId);
    const reason = reasonToIgnore(parse(body), deployment, repo_ref);
    if (reason !== null) return { revision_id: null, ignored: reason };

    // The body says when it was pushed: no two pushes say the same, and its repetition says nothing new.
    const digest = Uint8Array.from(createHash('sha256').update(body).digest());
    const revision = await this.#options.createRevision(
      pusherOf(deployment),
      deploymentId,
      { revision_source: 'github', source_revision_config: { repo_ref, langgraph_config_path } },
      (transaction) => webhookStore.claim(transaction, deploymentId, digest),
    );
    if (!revision) return { revision_id: null, ignored: 'this push was delivered before' };
    return { revision_id: revision.id, ignored: null };
  }

  async #signedBody(deploymentId: string, { signature, read, pass }: Delivery): Promise<Buffer> {
    const { prisma, sealer } = this.#options;
    if (!SIGNATURE.test(signature)) throw unsigned();
    const sealed = await webhookStore.findSecret(prisma, deploymentId);
    if (sealed === null) {
      // A stranger does not learn that nothing is there: the body takes as long as another, and no memory.
      const hash = createHmac('sha256', '');
      await pass((chunk) => void hash.update(chunk));
      throw unsigned();
    }
    const body = await read();
    const hash = createHmac('sha256', sealer.open(sealed, place(deploymentId))).update(body);
    const expected = Buffer.from(`sha256=${hash.digest('hex')}`);
    if (!timingSafeEqual(Buffer.from(signature), expected)) throw unsigned();
    return body;
  }

  async #mustBeGithub(caller: Principal, deploymentId: string): Promise<void> {
    const tenant = tenantOf(caller, 'deployments:update');
    const deployment = await deploymentStore.find(this.#options.prisma, tenant, deploymentId);
    if (!deployment) throw new NotFoundError(`Deployment ID ${deploymentId} not found.`);
    if (deployment.source !== 'github') {
      throw new BadRequestError("Webhooks are only available for 'github' source deployments.");
    }
  }

  #newSecret(deploymentId: string): string {
    return this.#options.sealer.seal(randomBytes(32).toString('base64url'), place(deploymentId));
  }

  #describe(deploymentId: string, secret: string): GithubWebhook {
    const base = this.#options.publicUrl.replace(/\/+$/, '');
    return {
      payload_url: `${base}/v1/integrations/github/webhooks/${deploymentId}`,
      content_type: 'application/json',
      secret,
      events: ['push'],
    };
  }
}

function unsigned(): UnauthorizedError {
  return new UnauthorizedError('The signature does not match');
}

const place = (deploymentId: string) => `deployment/${deploymentId}/github-webhook`;

/** The one who pushed may do this one thing to this one deployment. */
function pusherOf({ organizationId, workspaceId }: Deployment): Principal {
  return { kind: 'internal', identity: '', organizationId, workspaceId, permissions: ['deployments:update'] };
}

function parse(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Answered below.
  }
  throw new BadRequestError('The delivery is no JSON object. The webhook must send application/json.');
}

function reasonToIgnore(event: object, deployment: Deployment, ref: string | null | undefined): string | null {
  const { repo_url: repoUrl, build_on_push: isWanted } = deployment.sourceConfig as SourceConfig;
  if (!conforms(GithubPushEvent, event)) return 'this is no push';
  if (!isWanted) return 'the deployment does not build on push';
  if (repoUrl == null || !isSameRepository(repoUrl, event.repository.clone_url)) return 'this is another repository';
  if (event.created || event.deleted) return 'a branch or a tag was made or deleted';
  if (ref == null || event.ref !== fullRef(ref)) return 'this is another branch';
  return null;
}
