import type { ErrorCodeOf, PrincipalClaims } from '@runyard/contracts';
import { TooManyRequestsError } from '@runyard/service-kit';
import type { Config } from '../config.ts';

/** The owners of a run request. */
export interface RunOwners {
  /** Absent for callers the platform does not know. */
  claims: PrincipalClaims | undefined;
  /** The deployment's workspace: it may run for callers that only the deployment knows. */
  workspaceId: string;
  organizationId: string;
}

interface Dimension {
  name: string;
  subjectOf(owners: RunOwners): string | undefined;
  code: ErrorCodeOf<429>;
  detail: string;
  /** 0: no limit. */
  maxOf(config: Config): number;
}

const DIMENSIONS: readonly Dimension[] = [
  {
    name: 'person',
    subjectOf: ({ claims }) => claims?.person_id,
    code: 'too_many_runs_of_person',
    detail: 'Too many runs of this person are open',
    maxOf: (config) => config.HTTP_MAX_RUNS_PER_PERSON,
  },
  {
    name: 'workspace',
    subjectOf: ({ workspaceId }) => workspaceId,
    code: 'too_many_runs_of_workspace',
    detail: 'Too many runs of this workspace are open',
    maxOf: (config) => config.HTTP_MAX_RUNS_PER_WORKSPACE,
  },
  {
    name: 'organization',
    subjectOf: ({ organizationId }) => organizationId,
    code: 'too_many_runs_of_organization',
    detail: 'Too many runs of this organization are open',
    maxOf: (config) => config.HTTP_MAX_RUNS_PER_ORGANIZATION,
  },
];

/** Limits how many runs each owner has open at this replica: requests that run something and wait for its end. */
export class OpenRuns {
  readonly #dimensions: readonly (Dimension & { max: number })[];
  readonly #open = new Map<string, number>();
  #size = 0;

  constructor(config: Config) {
    this.#dimensions = DIMENSIONS.map((dimension) => ({ ...dimension, max: dimension.maxOf(config) })).filter(
      ({ max }) => max > 0,
    );
  }

  /** The number of open runs. */
  get size(): number {
    return this.#size;
  }

  /** Counts a run. Returns a function to call once when its request has ended. @throws TooManyRequestsError */
  take(owners: RunOwners): () => void {
    const counted = this.#dimensions.flatMap(({ name, subjectOf, max, code, detail }) => {
      const subject = subjectOf(owners);
      if (subject === undefined) return [];
      const key = `${name} ${subject}`;
      if (this.#of(key) >= max) throw new TooManyRequestsError(detail, { code, retryAfterSeconds: 1 });
      return [key];
    });
    for (const key of counted) this.#open.set(key, this.#of(key) + 1);
    this.#size += 1;
    return () => {
      this.#size -= 1;
      for (const key of counted) {
        if (this.#of(key) === 1) this.#open.delete(key);
        else this.#open.set(key, this.#of(key) - 1);
      }
    };
  }

  #of(key: string): number {
    return this.#open.get(key) ?? 0;
  }
}
