import { eventBusVariables, internalTokenVariable, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { dataPlaneVariables } from './data-plane/data-plane-variables.ts';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  ...dataPlaneVariables,
  CONTROL_PLANE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of the platform whose deployments are run here; it may end in a path.',
  }),
  DATA_PLANE_KEY: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._~+/=-]{32,}$',
      description:
        "In place of a listener: the variable of this name of control-plane. This is then one of the platform's own data planes, which share the deployments that no listener has.",
    }),
  ),
  LISTENER_KEY: Type.Optional(
    Type.String({ minLength: 1, description: 'Key of the listener, as `POST /v2/listeners/{id}/keys` gives it.' }),
  ),
  API_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'In place of `LISTENER_KEY`: a key of the platform that may update deployments of the workspace, and so more than a data plane needs.',
    }),
  ),
  WORKSPACE_ID: Type.Optional(
    Type.String({ format: 'uuid', description: 'The workspace of the listener; needed with `API_KEY`.' }),
  ),
  LISTENER_ID: Type.Optional(
    Type.String({ format: 'uuid', description: 'The listener whose deployments are run here.' }),
  ),
  ENCRYPTION_KEY: Type.String({
    minLength: 1,
    description:
      '32 bytes in base64 or hex, which no other service has: encrypts what is kept here. Several, newest first, separated by commas.',
  }),
  DATA_DIR: Type.String({
    minLength: 1,
    description: 'Folder for what is kept here: what is to run, and the logs of revisions.',
  }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Base URL of the gateway beside this data plane, as clients know it; shown as `custom_url` of its deployments. With `DATA_PLANE_KEY`, where it is needed, that of the platform.',
    }),
  ),
  PLATFORM_JWKS_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where deployments find the key set by which they check their callers: this process, as they reach it. Default: at `HOST` and `PORT`.',
    }),
  ),
  INTERNAL_TOKEN: Type.Optional(internalTokenVariable),
  // A caller who may deploy can then run code of this machine as this service's user.
  PROJECTS_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Folder of the projects that the source `local_directory` may name. Default: it may name none.',
    }),
  ),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Networks, as `10.0.0.0/8`, that deployments may send requests of their callers to although not public.',
    }),
  ),
});
export type Config = Static<typeof configSchema>;
