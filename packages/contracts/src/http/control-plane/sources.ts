import Type, { type Static } from 'typebox';
import { OptionalNullable, Uuid } from '../common.ts';
import { DeploymentType, ResourceSpec } from './resources.ts';

/**
 * Where the code of a revision comes from: a Git repository (`github`), an image of another registry (`external_docker`) or of
 * the platform's own (`internal_docker`), an uploaded archive (`internal_source`), a folder on the machine of the platform
 * (`local_directory`).
 */
export const DeploymentSource = Type.Union(
  [
    Type.Literal('github'),
    Type.Literal('external_docker'),
    Type.Literal('internal_docker'),
    Type.Literal('internal_source'),
    Type.Literal('local_directory'),
  ],
  { $id: 'DeploymentSource' },
);
export type DeploymentSource = Static<typeof DeploymentSource>;

/** What one revision alone may come from, whatever the source of its deployment is. */
export const RevisionSource = Type.Union(
  [Type.Literal('github'), Type.Literal('internal_docker'), Type.Literal('internal_source')],
  { $id: 'RevisionSource' },
);
export type RevisionSource = Static<typeof RevisionSource>;

const Command = Type.String({ minLength: 1, maxLength: 4096 });

/** Which fields a source takes, and which it needs, is said in docs/services/control-plane.md. */
export const SourceConfig = Type.Object(
  {
    /** `github`: the Git integration whose installation may read the repository. Cannot change. */
    integration_id: OptionalNullable(Uuid),
    /** `github`: the repository, as it is cloned. Cannot change. */
    repo_url: OptionalNullable(Type.String({ minLength: 1, maxLength: 2048 })),
    /** `github`: whether a push to `repo_ref` makes a revision. Not with a tag. */
    build_on_push: OptionalNullable(Type.Boolean()),
    /** `local_directory`: the project's folder, absolute. Cannot change. */
    project_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 4096 })),
    /** Cannot change. Default `dev`. */
    deployment_type: OptionalNullable(DeploymentType),
    resource_spec: OptionalNullable(ResourceSpec),
    /** Where the deployment answers. Of `external_docker` it may be set; elsewhere it is read-only, and sent back as it was shown or not at all. */
    custom_url: OptionalNullable(Type.String({ maxLength: 2048 })),
    /** The listener whose data plane runs it. Cannot change. */
    listener_id: OptionalNullable(Uuid),
    /** Where that one runs it. Cannot change. */
    listener_config: OptionalNullable(
      Type.Object({ k8s_namespace: OptionalNullable(Type.String({ minLength: 1, maxLength: 63 })) }),
    ),
    /** Installs the packages of a JavaScript project, run at its root. Default: what its lock file asks for. */
    install_command: OptionalNullable(Command),
    /** Builds a JavaScript project, run where its configuration file is. */
    build_command: OptionalNullable(Command),
  },
  { $id: 'SourceConfig' },
);
export type SourceConfig = Static<typeof SourceConfig>;

export const SourceRevisionConfig = Type.Object(
  {
    /** `github`: a branch's name, or `refs/tags/<tag>`. */
    repo_ref: OptionalNullable(Type.String({ minLength: 1, maxLength: 255 })),
    /** `github`: the commit that was built. Read-only: sent back as it was shown, or not at all. */
    repo_commit_sha: OptionalNullable(Type.String({ maxLength: 64 })),
    /** From the project's folder to its configuration file. `local_directory`: default `langgraph.json`. */
    langgraph_config_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
    /** `external_docker` and `internal_docker`: the image, best by its digest. */
    image_uri: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
    /** `internal_source`: the `object_path` that `upload-url` gave. */
    source_tarball_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { $id: 'SourceRevisionConfig' },
);
export type SourceRevisionConfig = Static<typeof SourceRevisionConfig>;
