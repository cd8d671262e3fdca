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

  /**
   * @param signature as the header has it
   * @throws UnauthorizedError when it is not that of the body
   */
  async receive(deploymentId: string, body: Buffer, signature: string | undefined): Promise<GithubDelivery> {
    const { prisma } = this.#options;
    await this.#checkSignature(deploymentId, body, signature);
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

  async #checkSignature(deploymentId: string, body: Buffer, signature: string | undefined): Promise<void> {
    const { prisma, sealer } = this.#options;
    const sealed = await webhookStore.findSecret(prisma, deploymentId);
    // A stranger does not learn whether the deployment is there.
    const secret = sealed === null ? randomBytes(32) : sealer.open(sealed, place(deploymentId));
    const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    const shown = Buffer.from(signature ?? '');
    if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) {
      throw new UnauthorizedError('The signature does not match');
    }
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
