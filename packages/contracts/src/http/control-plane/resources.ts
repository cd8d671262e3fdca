import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { OptionalNullable } from '../common.ts';

/**
 * Stored and returned as sent. `dev_free`, `dev_zero`, `dev_free_zero` and `serverless` behave like `dev`, `dedicated` like
 * `prod`.
 */
export const DeploymentType = Type.Union(
  [
    Type.Literal('dev'),
    Type.Literal('prod'),
    Type.Literal('dev_free'),
    Type.Literal('dev_zero'),
    Type.Literal('dev_free_zero'),
    Type.Literal('serverless'),
    Type.Literal('dedicated'),
  ],
  { $id: 'DeploymentType' },
);
export type DeploymentType = Static<typeof DeploymentType>;

const cores = (maximum: number) => OptionalNullable(Type.Number({ minimum: 0.1, maximum }));
const mebibytes = OptionalNullable(Type.Integer({ minimum: 128, maximum: 65_536 }));
const processes = OptionalNullable(Type.Integer({ minimum: 1, maximum: 16 }));
const fewest = OptionalNullable(Type.Integer({ minimum: 0, maximum: 16 }));
const count = OptionalNullable(Type.Integer({ minimum: 1, maximum: 100_000 }));
const text = Type.Record(Type.String(), Type.String());
const objects = OptionalNullable(Type.Array(JsonObject, { maxItems: 100 }));

/** docs/services/control-plane/scaling.md says which fields apply where. */
export const ResourceSpec = Type.Object(
  {
    /**
     * Minimum number of agent-apis; requests are distributed in turn. 0 is for the types `dev_zero`, `dev_free_zero` and
     * `serverless`, and means one: nothing is stopped here while nobody asks.
     */
    min_scale: fewest,
    max_scale: processes,
    /** Cores of one agent-api. */
    cpu: cores(8),
    /** Default: twice `cpu`. */
    cpu_limit: cores(16),
    /** MiB of heap for the project's code in one agent-api. */
    memory_mb: mebibytes,
    /** Default: twice `memory_mb`. */
    memory_limit_mb: mebibytes,

    /** Minimum number of run-workers. Default 1, whatever `min_scale` is. 0 as for `min_scale`. */
    queue_min_scale: fewest,
    queue_max_scale: processes,
    /** Resources of one run-worker; defaults are those of agent-apis. */
    queue_cpu: cores(8),
    queue_cpu_limit: cores(16),
    queue_memory_mb: mebibytes,
    queue_memory_limit_mb: mebibytes,

    /** Known from other platforms, and refused (422): all deployments of a data plane share its servers. */
    redis_cpu: cores(8),
    redis_cpu_limit: cores(16),
    redis_memory_mb: mebibytes,
    redis_memory_limit_mb: mebibytes,
    db_cpu: cores(8),
    db_cpu_limit: cores(16),
    db_memory_mb: mebibytes,
    db_memory_limit_mb: mebibytes,
    db_storage_gi: count,
    db_max_connections: count,
    /**
     * Settings for pods, where deployments run in a Kubernetes cluster: only the keys and names that its operator
     * allows.
     */
    labels: OptionalNullable(text),
    annotations: OptionalNullable(text),
    image_pull_secrets: OptionalNullable(
      Type.Array(Type.Object({ name: Type.String({ minLength: 1, maxLength: 253 }) }), { maxItems: 100 }),
    ),
    /** Refused (422): a deployment could reach other deployments' data with them. */
    service_account_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 253 })),
    volumes: objects,
    volume_mounts: objects,
    init_containers: objects,
    sidecars: objects,
  },
  { $id: 'ResourceSpec' },
);
export type ResourceSpec = Static<typeof ResourceSpec>;
