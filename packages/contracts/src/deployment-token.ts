/** The variable in which the code of a deployment finds the token that proves it is that deployment's. */
export const DEPLOYMENT_TOKEN_VARIABLE = 'RUNYARD_DEPLOYMENT_TOKEN';
/**
 * The header in which it sends the token to the OAuth broker, beside its key. The gateway passes it on to nobody else,
 * and it authenticates nobody.
 */
export const DEPLOYMENT_TOKEN_HEADER = 'x-runyard-deployment-token';
