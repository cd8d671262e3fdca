/** `langgraph.json`, as far as this platform reads it. */
import Type, { type Static } from 'typebox';

const GraphSpec = Type.Union([
  Type.String({ pattern: ':|\\.[cm]?[jt]sx?$' }),
  Type.Object({ path: Type.String({ minLength: 1 }), description: Type.Optional(Type.String()) }),
]);

export const ProjectFile = Type.Object({
  graphs: Type.Record(Type.String({ minLength: 1 }), GraphSpec, { minProperties: 1 }),
  env: Type.Optional(Type.Union([Type.String(), Type.Record(Type.String(), Type.String())])),
  auth: Type.Optional(
    Type.Object({
      path: Type.Optional(Type.String()),
      disable_studio_auth: Type.Optional(Type.Boolean()),
    }),
  ),
  http: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  store: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  checkpointer: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  webhooks: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ui: Type.Optional(Type.Record(Type.String(), Type.String())),
  ui_config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  node_version: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  dockerfile_lines: Type.Optional(Type.Array(Type.String())),
});
export type ProjectFile = Static<typeof ProjectFile>;

/** Keys that only mean something for the official CLI or an editor; accepted without a word. */
export const SILENT_KEYS: ReadonlySet<string> = new Set([
  '$schema',
  'api_version',
  'base_image',
  'docker_compose_file',
  'image_distro',
  'node_loader',
  '_INTERNAL_docker_tag',
]);

/** Keys of Python projects: they have no effect here and their presence usually means the wrong file was copied. */
export const PYTHON_KEYS: ReadonlySet<string> = new Set([
  'python_version',
  'dependencies',
  'pip_config_file',
  'pip_installer',
  'keep_pkg_tools',
]);
