import { isReservedVariable, type Secret } from '@runyard/contracts';
import type { Sealer } from '@runyard/sealing';
import { BadRequestError } from '@runyard/service-kit';

/** @throws BadRequestError naming the secrets that cannot be taken */
export function checkSecrets(secrets: readonly Secret[]): void {
  const reserved = secrets.map(({ name }) => name).filter(isReservedVariable);
  if (reserved.length > 0) {
    throw new BadRequestError(`Secret names are reserved for the platform: ${reserved.join(', ')}.`);
  }
  const twice = secrets.map(({ name }) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new BadRequestError(`Secret names are given twice: ${[...new Set(twice)].join(', ')}.`);
}

/** Seals and opens the secrets of a deployment; what is sealed for one deployment does not open for another. */
export class SecretSets {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  seal(deploymentId: string, secrets: readonly Secret[]): string | null {
    return secrets.length === 0 ? null : this.#sealer.seal(JSON.stringify(secrets), place(deploymentId));
  }

  open(deploymentId: string, sealed: string | null): Secret[] {
    return sealed === null ? [] : (JSON.parse(this.#sealer.open(sealed, place(deploymentId))) as Secret[]);
  }
}

const place = (deploymentId: string) => `deployment/${deploymentId}/secrets`;
