import Type, { type Static } from 'typebox';
import { JsonObject, OptionalNullable } from '../common.ts';

/** Stored and returned as sent. `dev_free`, `dev_zero` and `serverless` behave as `dev`, `dedicated` as `prod`. */
export const DeploymentType = Type.Union(
  [
    Type.Literal('dev'),
    Type.Literal('prod'),
    Type.Literal('dev_free'),
    Type.Literal('dev_zero'),
    Type.Literal('serverless'),
    Type.Literal('dedicated'),
  ],
  { $id: 'DeploymentType' },
);
export type DeploymentType = Static<typeof DeploymentType>;

const cores = (maximum: number) => OptionalNullable(Type.Number({ minimum: 0.1, maximum }));
const mebibytes = OptionalNullable(Type.Integer({ minimum: 128, maximum: 65_536 }));
const processes = OptionalNullable(Type.Integer({ minimum: 1, maximum: 16 }));
const count = OptionalNullable(Type.Integer({ minimum: 1, maximum: 100_000 }));
const text = Type.Record(Type.String(), Type.String());
const objects = OptionalNullable(Type.Array(JsonObject, { maxItems: 100 }));

/** Cores are kept to one decimal. What applies where is said in docs/services/control-plane.md. */
export const ResourceSpec = Type.Object(
  {
    /** How many agent-apis there are at least; requests go to them in turn. */
    min_scale: processes,
    max_scale: processes,
    /** Cores of one agent-api. */
    cpu: cores(8),
    /** Default: twice `cpu`. */
    cpu_limit: cores(16),
    /** MiB of one agent-api: the heap of the project's code beside it. */
    memory_mb: mebibytes,
    /** Default: twice `memory_mb`. */
    memory_limit_mb: mebibytes,

    /** How many run-workers there are at least. Default 1, whatever `min_scale` is. */
    queue_min_scale: processes,
    queue_max_scale: processes,
    /** Of one run-worker; what is not given is as for agent-apis. */
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
    /** Of pods, where deployments run in a Kubernetes cluster: those keys and names that its operator allows. */
    labels: OptionalNullable(text),
    annotations: OptionalNullable(text),
    image_pull_secrets: OptionalNullable(
      Type.Array(Type.Object({ name: Type.String({ minLength: 1, maxLength: 253 }) }), { maxItems: 100 }),
    ),
    /** Refused (422): by these a deployment would reach what is others'. */
    service_account_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 253 })),
    volumes: objects,
    volume_mounts: objects,
    init_containers: objects,
    sidecars: objects,
  },
  { $id: 'ResourceSpec' },
);
export type ResourceSpec = Static<typeof ResourceSpec>;
