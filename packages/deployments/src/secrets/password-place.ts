/** The place to which the encryption of a deployment's password is bound. */
export const passwordPlace = (deploymentId: string) => `deployment/${deploymentId}/database-password`;
