import Type from 'typebox';

export const baseImageVariables = {
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
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Networks, as `10.0.0.0/8`, to which the registry of the base image may lead for tokens and layers although not public.',
    }),
  ),
};
