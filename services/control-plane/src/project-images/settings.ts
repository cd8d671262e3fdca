import Type from 'typebox';

export const projectImageVariables = {
  PROJECT_BASE_IMAGE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Image that projects are put on where they run in a cluster, or are built for a remote data plane: `runyard/agent-server`, by the name its registry has it. Needed there.',
    }),
  ),
  PROJECT_BASE_IMAGE_USERNAME: Type.Optional(
    Type.String({ minLength: 1, description: 'With which its registry is asked. Default: as anybody.' }),
  ),
  PROJECT_BASE_IMAGE_PASSWORD: Type.Optional(Type.String({ minLength: 1 })),
};
