import Type, { type Static } from 'typebox';

/**
 * The target of `/deployments/{id, slug or name}` and `<slug>.<domain>` at the gateway; also the payload of the
 * deployment events that change it.
 */
export const DeploymentRoute = Type.Object(
  {
    deployment_id: Type.String({ format: 'uuid' }),
    /** Unique in its workspace; callers of that workspace can use it in URLs instead of the id. */
    name: Type.String(),
    /** Globally unique name, usable in URLs instead of the id, and as a label below the deployments' domain. */
    slug: Type.Union([Type.String(), Type.Null()]),
    /** The deployment's own host name, globally unique and in lower case, if its `custom_url` has one. */
    custom_host: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    workspace_id: Type.String({ format: 'uuid' }),
    organization_id: Type.String({ format: 'uuid' }),
    /** Base URLs of healthy agent-api processes; empty when there is none. */
    upstreams: Type.Array(Type.String()),
    active_revision_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    /** True when the project has its own `auth` handler. */
    has_custom_auth: Type.Boolean(),
    /** Path below which the active revision serves everything; null or missing: none, or none that is known. */
    mount_prefix: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    /** Increases with every change; a route with a smaller version than the known one is outdated. */
    version: Type.Integer(),
  },
  { $id: 'DeploymentRoute' },
);
export type DeploymentRoute = Static<typeof DeploymentRoute>;

/** The answer to `GET /internal/routes` on control-plane. */
export const RouteSnapshot = Type.Object({ routes: Type.Array(DeploymentRoute) }, { $id: 'RouteSnapshot' });
export type RouteSnapshot = Static<typeof RouteSnapshot>;
