import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import type { Deployment } from '../../generated/client.ts';

/** Stores the secrets of webhooks, and which deliveries were handled. */
export const webhookStore = {
  /** Searches all workspaces: a delivery is authorized by its signature. */
  findDeployment(queries: Queries, id: string): Promise<Deployment | null> {
    return queries.deployment.findFirst({ where: { id, source: 'github', deleteRequestedAt: null } });
  },

  async findSecret(queries: Queries, deploymentId: string): Promise<string | null> {
    return (await queries.githubWebhook.findUnique({ where: { deploymentId } }))?.encryptedSecret ?? null;
  },

  /** Stores the secret unless there is one, and returns the stored one. */
  async keepSecret(queries: Queries, deploymentId: string, encryptedSecret: string): Promise<string> {
    await queries.githubWebhook.createMany({ data: [{ deploymentId, encryptedSecret }], skipDuplicates: true });
    const row = await queries.githubWebhook.findUniqueOrThrow({ where: { deploymentId } });
    return row.encryptedSecret;
  },

  async replaceSecret(queries: Queries, deploymentId: string, encryptedSecret: string): Promise<void> {
    const where = { deploymentId };
    await queries.githubWebhook.upsert({
      where,
      create: { deploymentId, encryptedSecret },
      update: { encryptedSecret },
    });
  },

  /** Returns the ref and the configuration path of the newest revision from the repository. */
  async findBranch(queries: Queries, deploymentId: string): Promise<SourceRevisionConfig> {
    const where = { deploymentId, source: 'github' satisfies DeploymentSource };
    const row = await queries.revision.findFirst({ where, orderBy: { number: 'desc' } });
    return (row?.sourceRevisionConfig ?? {}) as SourceRevisionConfig;
  },

  /** Returns false when an equal delivery was handled before. */
  async claim(queries: Queries, deploymentId: string, digest: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const data = [{ deploymentId, digest }];
    return (await queries.githubPush.createMany({ data, skipDuplicates: true })).count > 0;
  },
};
