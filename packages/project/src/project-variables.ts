import Type from 'typebox';

/** Variables of a service that runs a project's code. */
export const projectVariables = {
  PROJECT_DIR: Type.String({ minLength: 1, description: 'Folder of the project.' }),
  LANGGRAPH_CONFIG_PATH: Type.String({
    default: 'langgraph.json',
    description: 'From the project folder, or absolute.',
  }),
  PROJECT_ENV: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: 'Variables of the project as a JSON object; over those its own `env` names.',
  }),
  LANGGRAPH_API_URL: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Public URL of the deployment, for clients; runs carry it in their metadata.',
    }),
  ),
  GRAPH_HOST_HEAP_MB: Type.Optional(
    Type.Integer({
      minimum: 64,
      description: 'Limit of the V8 heap of the graph host; in Python, of the resident memory of its process.',
    }),
  ),
  GRAPH_HOST_USER: Type.Optional(
    Type.String({
      pattern: '^\\d{1,10}:\\d{1,10}$',
      description: "Whom the project's code runs as where this service is root, as `20000:20000`.",
    }),
  ),
  GRAPH_HOST_SILENT_SECONDS: Type.Optional(
    Type.Integer({ minimum: 5, description: 'A graph host that has not answered for so long is killed.' }),
  ),
};
