/** `langgraph.json`: every key, one file per section under `sections/`. */
import Type, { type Static } from 'typebox';
import { AuthSection } from './sections/auth.ts';
import { CheckpointerSection } from './sections/checkpointer.ts';
import { EncryptionSection } from './sections/encryption.ts';
import { EnvSection } from './sections/env.ts';
import { GraphsSection } from './sections/graphs.ts';
import { HttpSection } from './sections/http.ts';
import { imageSections } from './sections/image.ts';
import { NodeLoaderSection, NodeVersionSection } from './sections/node.ts';
import { PrioritySection } from './sections/priority.ts';
import { pythonSections } from './sections/python.ts';
import { StoreSection } from './sections/store.ts';
import { UiConfigSection, UiSection } from './sections/ui.ts';
import { WebhooksSection } from './sections/webhooks.ts';

export const ProjectFile = Type.Object({
  $schema: Type.Optional(Type.String({ description: 'For editors.' })),
  graphs: GraphsSection,
  env: Type.Optional(EnvSection),
  dependencies: Type.Optional(
    Type.Unknown({
      description:
        'In Python: what is installed, each entry a folder of the project (`"."`, `"./libs/tools"`) or a requirement (`"langchain-openai>=1"`). See [Python projects](python-projects.md). In JavaScript nothing, and no warning: a project\'s packages are those of its `package.json`.',
    }),
  ),
  node_version: Type.Optional(NodeVersionSection),
  node_loader: Type.Optional(NodeLoaderSection),
  store: Type.Optional(StoreSection),
  checkpointer: Type.Optional(CheckpointerSection),
  http: Type.Optional(HttpSection),
  webhooks: Type.Optional(WebhooksSection),
  auth: Type.Optional(AuthSection),
  encryption: Type.Optional(EncryptionSection),
  ui: Type.Optional(UiSection),
  ui_config: Type.Optional(UiConfigSection),
  priority: Type.Optional(PrioritySection),
  dockerfile_lines: Type.Optional(imageSections.dockerfile_lines),
  docker_compose_file: Type.Optional(imageSections.docker_compose_file),
  api_version: Type.Optional(imageSections.api_version),
  base_image: Type.Optional(imageSections.base_image),
  image_distro: Type.Optional(imageSections.image_distro),
  _INTERNAL_docker_tag: Type.Optional(imageSections._INTERNAL_docker_tag),
});
export type ProjectFile = Static<typeof ProjectFile>;

export { pythonSections };
