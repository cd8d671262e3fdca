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

  /** False when a delivery that says the same was acted on before. */
  async claim(queries: Queries, deploymentId: string, digest: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const data = [{ deploymentId, digest }];
    return (await queries.githubPush.createMany({ data, skipDuplicates: true })).count > 0;
  },

  /** It was not acted on after all. */
  async release(queries: Queries, deploymentId: string, digest: Uint8Array<ArrayBuffer>): Promise<void> {
    await queries.githubPush.deleteMany({ where: { deploymentId, digest } });
  },
};
