/** Returns the prefix of a deployment's sources and builds in the object storage. */
export const objectsPrefix = (deploymentId: string) => `deployments/${deploymentId}/`;
