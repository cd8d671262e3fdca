import Type, { type Static } from 'typebox';

/** Where the gateway sends `/deployments/{id, slug or name}` and `<slug>.<domain>`; also the payload of the deployment events that change it. */
export const DeploymentRoute = Type.Object(
  {
    deployment_id: Type.String({ format: 'uuid' }),
    /** Unique in its workspace; stands for the deployment in URLs of callers from there. */
    name: Type.String(),
    /** Globally unique name usable in the URL instead of the id, and as a label below the deployments' domain. */
    slug: Type.Union([Type.String(), Type.Null()]),
    /** Globally unique host name of its own, in lower case, where its `custom_url` gives it one. */
    custom_host: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    workspace_id: Type.String({ format: 'uuid' }),
    organization_id: Type.String({ format: 'uuid' }),
    /** Base URLs of healthy agent-api processes; empty while none is. */
    upstreams: Type.Array(Type.String()),
    active_revision_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    /** True when the project has an `auth` handler of its own. */
    has_custom_auth: Type.Boolean(),
    /** Grows with every change; a smaller one than known is stale. */
    version: Type.Integer(),
  },
  { $id: 'DeploymentRoute' },
);
export type DeploymentRoute = Static<typeof DeploymentRoute>;

/** `GET /internal/routes` on control-plane. */
export const RouteSnapshot = Type.Object({ routes: Type.Array(DeploymentRoute) }, { $id: 'RouteSnapshot' });
export type RouteSnapshot = Static<typeof RouteSnapshot>;
