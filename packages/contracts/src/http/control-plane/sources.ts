import Type, { type Static } from 'typebox';
import { OptionalNullable, Uuid } from '../common.ts';
import { DeploymentType, ResourceSpec } from './resources.ts';

/**
 * The source of a revision's code: a Git repository (`github`), an image of another registry (`external_docker`) or of
 * the platform's own (`internal_docker`), an uploaded archive (`internal_source`), or a folder on the platform's
 * machine (`local_directory`).
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

/** The possible sources of a single revision, whatever the source of its deployment is. */
export const RevisionSource = Type.Union(
  [Type.Literal('github'), Type.Literal('internal_docker'), Type.Literal('internal_source')],
  { $id: 'RevisionSource' },
);
export type RevisionSource = Static<typeof RevisionSource>;

const Command = Type.String({ minLength: 1, maxLength: 4096 });

/** docs/services/control-plane/sources.md says which fields a source takes and needs. */
export const SourceConfig = Type.Object(
  {
    /** `github`: the Git integration whose token may read the repository. Cannot change. */
    integration_id: OptionalNullable(Uuid),
    /** `github`: the clone URL of the repository. Cannot change. */
    repo_url: OptionalNullable(Type.String({ minLength: 1, maxLength: 2048 })),
    /** `github`: whether a push to `repo_ref` creates a revision. Not allowed with a tag. */
    build_on_push: OptionalNullable(Type.Boolean()),
    /** `local_directory`: the project's folder, absolute. Cannot change. */
    project_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 4096 })),
    /** Cannot change. Default `dev`. */
    deployment_type: OptionalNullable(DeploymentType),
    resource_spec: OptionalNullable(ResourceSpec),
    /**
     * The URL of the deployment; the name of a host alone stands for its root over HTTPS. It can be set with
     * `external_docker`. With other sources it is read-only: callers send it back unchanged, or not at all.
     */
    custom_url: OptionalNullable(Type.String({ maxLength: 2048 })),
    /** The listener whose data plane runs it. Cannot change. */
    listener_id: OptionalNullable(Uuid),
    /** The namespace in which that data plane runs it. Cannot change. */
    listener_config: OptionalNullable(
      Type.Object({ k8s_namespace: OptionalNullable(Type.String({ minLength: 1, maxLength: 63 })) }),
    ),
    /** Installs the packages of a JavaScript project at its root. Default: the command for its lock file. */
    install_command: OptionalNullable(Command),
    /** Builds a JavaScript project, in the folder of its configuration file. */
    build_command: OptionalNullable(Command),
  },
  { $id: 'SourceConfig' },
);
export type SourceConfig = Static<typeof SourceConfig>;

export const SourceRevisionConfig = Type.Object(
  {
    /** `github`: a branch's name, or `refs/tags/<tag>`. Default: the default branch of the repository. */
    repo_ref: OptionalNullable(Type.String({ minLength: 1, maxLength: 255 })),
    /** `github`: the commit that was built. Read-only: callers send it back unchanged, or not at all. */
    repo_commit_sha: OptionalNullable(Type.String({ maxLength: 64 })),
    /**
     * Path of the configuration file, relative to the project's folder. Needed with `github`. Default with
     * `local_directory`: `langgraph.json`.
     */
    langgraph_config_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
    /** `external_docker` and `internal_docker`: the image, preferably with its digest. Needed with `external_docker`. */
    image_uri: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
    /** `internal_source`: the `object_path` that `upload-url` returned. */
    source_tarball_path: OptionalNullable(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { $id: 'SourceRevisionConfig' },
);
export type SourceRevisionConfig = Static<typeof SourceRevisionConfig>;
