import { DEPLOYMENT_TOKEN_VARIABLE, isUuid, type Secret } from '@runyard/contracts';
import { Signatures } from '@runyard/encryption';

const TOKEN = /^rdt_([0-9a-f-]{36})_([\w-]{43})$/;

/**
 * Issues and checks the tokens by which the code of a deployment proves that it is that deployment's. They are signed,
 * so that nothing has to be stored, and they have no expiry: whoever checks one asks whether the deployment exists. One
 * proves nothing else, and authenticates nobody.
 */
export class DeploymentTokens {
  readonly #signatures: Signatures;

  /** @param encryptionKeys the valid value of ENCRYPTION_KEY */
  constructor(encryptionKeys: string) {
    this.#signatures = new Signatures(encryptionKeys, 'deployment token v1');
  }

  /** Returns the variable that gives the deployment's code its token. */
  variableOf(deploymentId: string): Secret {
    return { name: DEPLOYMENT_TOKEN_VARIABLE, value: `rdt_${deploymentId}_${this.#signatures.sign(deploymentId)}` };
  }

  /** Returns the id of the token's deployment, which may not exist any more; null for a text that is no token. */
  deploymentOf(token: string): string | null {
    const [, deploymentId, signature] = TOKEN.exec(token) ?? [];
    if (!isUuid(deploymentId) || signature === undefined) return null;
    return this.#signatures.isValid(deploymentId, signature) ? deploymentId : null;
  }
}
