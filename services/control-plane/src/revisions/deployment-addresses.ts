import type { Queries } from '../database/database.ts';

/** A slug, or a host of `custom_url`. */
export interface DeploymentAddressName {
  kind: 'slug' | 'host';
  name: string;
}

/**
 * Queries which workspace first had an address. Clients of a deleted deployment go on sending their keys to its address,
 * so no other workspace gets it. The database adds the rows, whoever writes a deployment.
 */
export const deploymentAddresses = {
  /** Returns whether another workspace has or had the address. */
  async isKeptFromWorkspace(queries: Queries, workspaceId: string, address: DeploymentAddressName): Promise<boolean> {
    const where = { ...address, workspaceId: { not: workspaceId } };
    return (await queries.deploymentAddress.findFirst({ where, select: { name: true } })) !== null;
  },

  /** Forgets who had an address, because the operator has decided who gets it. */
  async forget(queries: Queries, address: DeploymentAddressName): Promise<void> {
    await queries.deploymentAddress.deleteMany({ where: { ...address } });
  },
};
