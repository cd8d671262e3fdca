import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import type { Deployment } from '../../generated/client.ts';

/** Webhooks of repositories: their secrets, and which deliveries were acted on. */
export const webhookStore = {
  /** Of whichever workspace: a delivery shows by its signature that it may. */
  findDeployment(queries: Queries, id: string): Promise<Deployment | null> {
    return queries.deployment.findFirst({ where: { id, source: 'github', deleteRequestedAt: null } });
  },

  async findSecret(queries: Queries, deploymentId: string): Promise<string | null> {
    return (await queries.githubWebhook.findUnique({ where: { deploymentId } }))?.sealedSecret ?? null;
  },

  /** Keeps the secret if there is none; returns the one that holds. */
  async keepSecret(queries: Queries, deploymentId: string, sealedSecret: string): Promise<string> {
    await queries.githubWebhook.createMany({ data: [{ deploymentId, sealedSecret }], skipDuplicates: true });
    const row = await queries.githubWebhook.findUniqueOrThrow({ where: { deploymentId } });
    return row.sealedSecret;
  },

  async replaceSecret(queries: Queries, deploymentId: string, sealedSecret: string): Promise<void> {
    const where = { deploymentId };
    await queries.githubWebhook.upsert({ where, create: { deploymentId, sealedSecret }, update: { sealedSecret } });
  },

  /** What is built of the repository: as the newest revision says that came from it. */
  async findBranch(queries: Queries, deploymentId: string): Promise<SourceRevisionConfig> {
    const where = { deploymentId, source: 'github' satisfies DeploymentSource };
    const row = await queries.revision.findFirst({ where, orderBy: { number: 'desc' } });
    return (row?.sourceRevisionConfig ?? {}) as SourceRevisionConfig;
  },

  /** False when a delivery that says the same was acted on before. */
  async claim(queries: Queries, deploymentId: string, digest: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const data = [{ deploymentId, digest }];
    return (await queries.githubPush.createMany({ data, skipDuplicates: true })).count > 0;
  },
};
