import { createHash } from 'node:crypto';
import { ConfigError } from '@runyard/service-kit';
import Type from 'typebox';

export const projectUsersVariable = Type.Optional(
  Type.String({
    pattern: '^\\d{1,10}-\\d{1,10}$',
    description:
      'Users that the code of projects and of builds runs as where this service is root, two for each deployment, as `100000-999999999`.',
  }),
);

/** A user of the system by numbers, which need no entry in `/etc/passwd`. */
export interface SystemUser {
  uid: number;
  gid: number;
}

/** The highest id that Node.js starts a process as. */
const HIGHEST_ID = 2_147_483_647;

/**
 * The users of PROJECT_USERS. Each deployment has two: one of the first half runs its project, and one of the second
 * half its builds, so that what a build leaves behind can be killed by its user while the project goes on.
 *
 * The users follow from the deployment's id: they are the same at every start, without a table. In a range of millions
 * two deployments hardly ever share one.
 */
export class UserRange {
  readonly #first: number;
  readonly #half: number;

  /**
   * @param setting as `100000-999999999`
   * @throws ConfigError when this service may not start processes of those users
   */
  constructor(setting: string) {
    const [first, last] = setting.split('-').map(Number) as [number, number];
    if (process.geteuid?.() !== 0) {
      throw new ConfigError(['PROJECT_USERS can only be set where this service runs as root.']);
    }
    if (first === 0 || last <= first || last > HIGHEST_ID) {
      throw new ConfigError([`PROJECT_USERS must be a range of users other than root, up to ${HIGHEST_ID}.`]);
    }
    this.#first = first;
    this.#half = Math.floor((last - first + 1) / 2);
  }

  projectUserOf(deploymentId: string): SystemUser {
    return this.#userAt(this.#first, deploymentId);
  }

  buildUserOf(deploymentId: string): SystemUser {
    return this.#userAt(this.#first + this.#half, deploymentId);
  }

  #userAt(first: number, deploymentId: string): SystemUser {
    const number = createHash('sha256').update(deploymentId).digest().readUIntBE(0, 6);
    const id = first + (number % this.#half);
    return { uid: id, gid: id };
  }
}
