import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Uuid } from '../common.ts';
import { PlatformImage } from '../control-plane/data-planes/desired-state.ts';
import { ProjectLayer } from '../internal/project-layer.ts';
import { InvalidResponse } from './responses.ts';

const deployment_id = '0192f7a0-0000-7000-8000-000000000001';
const revision_id = '0192f7a0-0000-7000-8000-000000000002';
const BuildKey = Type.String({ pattern: '^[0-9a-f]{32}$' });
const build = '8f14e45fceea167a5a36dedd4bea2543';
const image = {
  uri: `agents.example.com/registry/${deployment_id}/runyard-project@sha256:${'a'.repeat(64)}`,
  settings: { N_JOBS_PER_WORKER: '7' },
  architecture: 'amd64',
};

const revision = {
  deployment_id: Uuid,
  revision_id: Uuid,
  /** Identifies the build within the deployment; null for a project whose image no other revision shares. */
  build: Nullable(BuildKey),
};

export const ProjectImageRequest = Type.Object(revision, { $id: 'ProjectImageRequest' });
export type ProjectImageRequest = Static<typeof ProjectImageRequest>;

const ProjectImageOrder = Type.Object(
  {
    ...revision,
    layer: ProjectLayer,
  },
  { $id: 'ProjectImageOrder' },
);

/** Why there is no image. It is for whoever has deployed the project, and another attempt would not help. */
const failure = Nullable(Type.String());

export const ProjectImageAnswer = Type.Object(
  {
    /** Null without a failure: the project has to be built. */
    image: Nullable(PlatformImage),
    failure,
    /** Lines for the log of the build. */
    log: Type.Array(Type.String()),
  },
  { $id: 'ProjectImageAnswer' },
);
export type ProjectImageAnswer = Static<typeof ProjectImageAnswer>;

export const prepareProjectImage = defineOperation({
  operationId: 'prepareProjectImage',
  method: 'post',
  path: '/internal/project-images/prepare',
  summary:
    'Finds the image of a revision, or gets ready to make it: answers when all layers of the base image are there.',
  tags: ['internal'],
  access: 'internal',
  body: ProjectImageRequest,
  responses: {
    200: {
      description: 'The image, if there is one.',
      schema: ProjectImageAnswer,
      example: { image: null, failure: null, log: [] },
    },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id, revision_id, build } },
});

export const makeProjectImage = defineOperation({
  operationId: 'makeProjectImage',
  method: 'post',
  path: '/internal/project-images/make',
  summary: 'Makes the image of a revision: the base image, with the project as one more layer.',
  tags: ['internal'],
  access: 'internal',
  body: ProjectImageOrder,
  bodyLimitBytes: 300_000,
  responses: {
    200: {
      description: 'The image; null without a failure when the layer is not there any more.',
      schema: ProjectImageAnswer,
      example: { image, failure: null, log: [`Made the image sha256:${'a'.repeat(64)}`] },
    },
    422: InvalidResponse,
  },
  examples: {
    body: {
      ...{ deployment_id, revision_id, build },
      layer: {
        digest: `sha256:${'b'.repeat(64)}`,
        size: 1_048_576,
        diff_id: `sha256:${'c'.repeat(64)}`,
        variables: { PROJECT_DIR: '/deps/project' },
        settings: { N_JOBS_PER_WORKER: '7' },
      },
    },
  },
});

const ProjectBaseRequest = Type.Object({}, { $id: 'ProjectBaseRequest' });

export const ProjectBase = Type.Object(
  {
    /** The CPU architecture that projects have to be built for, as images name it; null with a failure. */
    architecture: Nullable(Type.String()),
    failure,
  },
  { $id: 'ProjectBase' },
);
export type ProjectBase = Static<typeof ProjectBase>;

export const describeProjectBase = defineOperation({
  operationId: 'describeProjectBase',
  method: 'post',
  path: '/internal/project-images/base',
  summary: 'What the base image of projects says of the machines that run it.',
  tags: ['internal'],
  access: 'internal',
  body: ProjectBaseRequest,
  responses: {
    200: {
      description: 'Its architecture.',
      schema: ProjectBase,
      example: { architecture: 'amd64', failure: null },
    },
    422: InvalidResponse,
  },
  examples: { body: {} },
});

const ProjectImagesKept = Type.Object(
  {
    deployment_id: Uuid,
    revision_ids: Type.Array(Uuid, { maxItems: 10_000 }),
    builds: Type.Array(BuildKey, { maxItems: 10_000 }),
  },
  { $id: 'ProjectImagesKept' },
);

export const ProjectImagesRemoved = Type.Object({}, { $id: 'ProjectImagesRemoved' });

export const keepProjectImages = defineOperation({
  operationId: 'keepProjectImages',
  method: 'post',
  path: '/internal/project-images/keep',
  summary: 'Removes the images of projects of all other revisions and builds of a deployment.',
  tags: ['internal'],
  access: 'internal',
  body: ProjectImagesKept,
  bodyLimitBytes: 1_000_000,
  responses: {
    200: { description: 'The others are removed.', schema: ProjectImagesRemoved, example: {} },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id, revision_ids: [revision_id], builds: [build] } },
});
