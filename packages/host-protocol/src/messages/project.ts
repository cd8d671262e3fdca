/** Messages that load a project, and end its host. */
import Type, { type Static } from 'typebox';
import { form, request } from './message.ts';
import { ProjectExport } from './values.ts';

const ProjectGraph = form(
  'ProjectGraph',
  Type.Object({
    graphId: Type.String(),
    file: Type.String({ description: 'Absolute path of the source file; empty where `module` is there.' }),
    module: Type.Optional(Type.String({ description: 'Dotted name of a module of Python, in place of a file.' })),
    symbol: Type.String({ description: 'Name of the export.' }),
    description: Type.Optional(Type.String()),
  }),
);

/** A graph of the project, as the parent read it from `langgraph.json`. */
export type ProjectGraph = Static<typeof ProjectGraph>;

const Project = form(
  'Project',
  Type.Object({
    directory: Type.String({ description: 'Absolute path of the folder of `langgraph.json`.' }),
    graphs: Type.Array(ProjectGraph),
    env: Type.Record(Type.String(), Type.String(), {
      description: 'Variables that the project names; those of the process win.',
    }),
    revivableModules: Type.Union([Type.Literal(true), Type.Array(Type.Array(Type.String()))], {
      description: 'Classes that stored values may become again, beside those that only hold data; true for all.',
    }),
    python: Type.Optional(
      Type.Object(
        {
          path: Type.Array(Type.String(), { description: 'Absolute paths of folders that modules are imported from.' }),
          msgpackModules: Type.Optional(
            Type.Union([Type.Literal(true), Type.Null(), Type.Array(Type.Array(Type.String()))], {
              description:
                'Classes that stored values may become, each as module and name; null for those that only hold data; default: true, all.',
            }),
          ),
          pickles: Type.Optional(
            Type.Boolean({ description: 'Stores what has no other form by pickle, and reads it. Default: true.' }),
          ),
        },
        { description: 'What only projects in Python have.' },
      ),
    ),
  }),
);

const Limits = form(
  'Limits',
  Type.Object({
    creditBytes: Type.Integer({
      description:
        'Bytes of events that a run may send before it is given credit. While some is left one more event may be sent, of any size; a host that sends one without is ended.',
    }),
    bufferBytes: Type.Integer({ description: 'Bytes of events that may wait for credit before the run fails.' }),
    eventBytes: Type.Integer({
      description: 'Bytes of one event; a larger one is left out, and an event of mode `stream.gap` says so.',
    }),
    logBytesPerSecond: Type.Integer({ description: 'Bytes of output that are passed on; the rest is counted.' }),
  }),
);

const GraphDescription = form(
  'GraphDescription',
  Type.Object({
    graphId: Type.String(),
    description: Type.Optional(Type.String()),
    isFactory: Type.Boolean({
      description: 'True when the graph is made anew for each use, from its configuration.',
    }),
  }),
);
export type GraphDescription = Static<typeof GraphDescription>;

const AppRoute = form(
  'AppRoute',
  Type.Object({
    method: Type.String({ description: 'In capitals; `ALL` for every method.' }),
    path: Type.String({ description: 'A pattern.' }),
  }),
);
/** A route of the project's app. */
export type AppRoute = Static<typeof AppRoute>;

const ServedApp = form(
  'ServedApp',
  Type.Object({
    paths: Type.Array(Type.String(), {
      description: 'Patterns of its routes and middleware. The app need not see a path that matches none of them.',
    }),
    routes: Type.Union([Type.Array(AppRoute), Type.Null()], {
      description: 'Its routes without its middleware; null when nobody can tell the two apart.',
    }),
    openApi: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
      description: 'An OpenAPI document of its routes, or null when the app does not describe them.',
    }),
    hasWebSockets: Type.Boolean({ description: 'True when the app answers websockets.' }),
  }),
);
/** The project's HTTP app, which listens. */
export type ServedApp = Static<typeof ServedApp>;

export const projectToHost = {
  init: request(
    'init',
    {
      protocol: Type.Optional(
        Type.Integer({ description: 'The version that the parent has chosen of those in `hello`; default: 1.' }),
      ),
      project: Project,
      loopback: Type.Union([Type.Object({ socketPath: Type.String(), token: Type.String() }), Type.Null()], {
        description: "Address of the deployment's own server; null when there is none.",
      }),
      publicUrl: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the deployment for clients; null when there is none.',
      }),
      limits: Limits,
    },
    {
      answer: Type.Array(GraphDescription),
      means:
        'load the project, as the parent read it from `langgraph.json`; an error of kind `load` has the `graphId` that did not load',
    },
  ),
  ping: request('ping', {}, { answer: Type.Null(), means: 'is the event loop alive?' }),
  'app.serve': request(
    'app.serve',
    { app: ProjectExport, socketPath: Type.Union([Type.String(), Type.Null()]) },
    {
      answer: ServedApp,
      means:
        "load the project's HTTP app and serve it there, see below; null: only open what the app opens before its first request; error kind `load`",
    },
  ),
  shutdown: request('shutdown', {}, { answer: Type.Null(), means: 'answer, then exit' }),
} as const;
