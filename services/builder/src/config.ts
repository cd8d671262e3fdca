import { buildQueueVariables } from '@runyard/build-queue';
import { PROJECT_FILES_MAX, projectUsersVariable } from '@runyard/deployments';
import { ConnectionUri, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

const GIBIBYTE = 1024 ** 3;

export const configSchema = Type.Object({
  ...serviceVariables,
  CONTROL_PLANE_URL: Type.String({ format: 'uri', description: 'Base URL of control-plane, which gives orders.' }),
  REGISTRY_SERVICE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of registry, which takes projects that run as images.',
  }),
  REDIS_URI: ConnectionUri('redis', 'Redis with the queue of builds. Its user needs the keys of that queue alone.'),
  ...buildQueueVariables,
  DATA_DIR: Type.String({
    minLength: 1,
    description: 'Folder for builds in progress and the package caches of deployments, of this builder alone.',
  }),
  PROJECT_USERS: projectUsersVariable,
  RUNYARD_PYTHONS: Type.Optional(
    Type.Array(Type.String({ pattern: '^/' }), {
      description:
        'Pythons that projects may be built for, beside `python3` and `python3.11` to `python3.14` on the PATH: absolute paths, which the users of builds and projects can reach. Projects run with them too.',
    }),
  ),
  BUILDER_IDLE_SECONDS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 86_400,
      description: 'Time without a build after which this process ends, for who starts it again. Default: never.',
    }),
  ),
  CONCURRENT_BUILDS: Type.Integer({ default: 2, minimum: 1, maximum: 64, description: 'Builds at once, here.' }),
  BUILD_MEMORY_BYTES: Type.Integer({
    default: 4 * GIBIBYTE,
    minimum: 64 * 1024 * 1024,
    description: 'Memory of all processes of a build together.',
  }),
  BUILD_PROCESSES: Type.Integer({
    default: 512,
    minimum: 16,
    maximum: 100_000,
    description: 'Processes of a build at once; threads count too where builds have users of their own.',
  }),
  BUILD_DISK_BYTES: Type.Integer({
    default: 10 * GIBIBYTE,
    minimum: 16 * 1024 * 1024,
    description:
      "Bytes that a build may have on the disk: the project, its packages, and the deployment's cache of them.",
  }),
  BUILD_FILES: Type.Integer({
    default: PROJECT_FILES_MAX,
    minimum: 1_000,
    maximum: PROJECT_FILES_MAX,
    description: 'Files, folders and links that a build may have on the disk, where BUILD_DISK_BYTES are counted.',
  }),
  BUILD_CACHE_DAYS: Type.Integer({
    default: 7,
    minimum: 1,
    maximum: 3650,
    description: 'How long package caches are kept of a deployment that is not built.',
  }),
  DISK_MIN_FREE_BYTES: Type.Integer({
    default: GIBIBYTE,
    minimum: 0,
    description: 'Free bytes of the disk with DATA_DIR that builds leave to everything else.',
  }),
});
export type Config = Static<typeof configSchema>;
