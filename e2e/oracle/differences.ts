import type { IntendedDifference } from './intended-differences.ts';

const THREADS = /^(GET|POST|PATCH) \/threads/;
const STATES = /^(GET|POST) \/threads\/ID\/(state|history)/;

/** All in which the platform answers otherwise than the public Python server. */
export const INTENDED: readonly IntendedDifference[] = [
  { places: /\.langgraph_(api_version|api_url|plan)$/, reason: 'Each server describes itself.' },
  {
    places: /^(runyard_version|metadata|host\.(project_id|revision_id|host_revision_id))$/,
    requests: /^GET \/info$/,
    reason: 'A server says which it is, and which deployment and revision it serves.',
  },
  {
    places:
      /(^|\.)metadata\.(user_id|mood|l[cs]_(agent_name|integration|versions)|langgraph_(version|host|auth_user_id|request_id))$/,
    requests: STATES,
    reason: 'Who called, and the configuration of a run or its graph, which may have secrets, are not in checkpoints.',
  },
  {
    places:
      /^tasks\.state\.metadata\.(checkpoint_map|checkpoint_ns|langgraph_(step|node|triggers|path|checkpoint_ns))$/,
    requests: STATES,
    reason: 'The place of a subgraph is in its checkpoint, which is beside its metadata.',
  },
  {
    places: /(^|\.)metadata\.checkpoint_id$/,
    requests: STATES,
    reason: 'Metadata of a state name its checkpoint, whatever the language of its graph.',
  },
  {
    places: /^metadata\.(topic|more)$/,
    requests: STATES,
    reason: 'Metadata of a thread may change: a checkpoint does not copy them.',
  },
  {
    places: /^values$/,
    requests: STATES,
    theirs: null,
    reason: 'Clients look for keys in the values of a state, so those of one without any are an empty object.',
  },
  {
    places: /^checkpoint\.checkpoint_ns$/,
    requests: STATES,
    reason: 'A checkpoint is named in full, however it was asked for.',
  },
  {
    places: /^config\.(configurable|tags|recursion_limit)$/,
    requests: THREADS,
    reason: 'A thread has no configuration of its own; that of a run is in the run.',
  },
  {
    places: /^(interrupts|error)$/,
    requests: THREADS,
    reason: 'A thread has all its fields before its first run, too.',
  },
  {
    places: /^values$/,
    requests: /^POST \/threads\/(ID\/copy|search)$/,
    reason: 'A copied thread shows its values at once.',
  },
  {
    places: /^status$/,
    requests: /^POST \/threads$/,
    theirs: 'interrupted',
    reason: 'A thread that is created is idle, also where its state has a node that comes next.',
  },
  {
    places: /^interrupts\.ID$/,
    requests: THREADS,
    reason: 'Interrupts of a subgraph are named by the task of the thread, which is in its state.',
  },
  {
    places: /^values\.messages\.example$/,
    requests: THREADS,
    reason: 'Messages in the values of a thread have all fields that their class writes.',
  },
  { places: /(^|\.)values\.path$/, theirs: null, reason: 'A path is text; theirs is lost.' },
  {
    places: /(^data|error|__error__)\.message$/,
    theirs: 'An internal error occurred',
    reason: 'Errors of classes of the project say what they say; secrets in them are masked.',
  },
  {
    places: /(^|\.)configurable\.(user_id|svc_request_id|langgraph_auth_\w+|__\w+)$/,
    reason: 'A run names its caller as the platform knows it; what the server needs for itself is not shown.',
  },
  {
    places: /(^|\.)kwargs\.config\.metadata\.(run_attempt|graph_id|langgraph_(version|host))$/,
    reason: 'The arguments of a run stay as they were given.',
  },
  { places: /^cancel_reason$/, reason: 'A run says why it was cancelled.' },
  {
    places: /^metadata\.graph_id$/,
    requests: /^POST \/runs\/batch$/,
    reason: 'A run names its graph from its beginning.',
  },
  {
    places: /^config\.tags$/,
    requests: /^(PATCH|POST) \/assistants/,
    reason: 'A change of the context of an assistant leaves its tags.',
  },
  {
    places: /^(context\.(mood|level)|text)$/,
    requests: /^POST \/(assistants|runs\/wait$)/,
    reason: 'The version of an assistant that is made the latest brings its context back.',
  },
  {
    places: /^data\.data\.(output|chunk|output\.messages|chunk\.messages)\.id$/,
    reason: 'An event shows a message as it was then, before the state gave it an id.',
  },
  {
    places: /^(user_id|timezone|is_enabled|payload\.(on_run_completed|enabled))$/,
    requests: /^POST \/runs\/crons/,
    reason: 'A cron says whose it is, and what holds where its request was silent.',
  },
  {
    places: /^items\./,
    requests: /^POST \/store/,
    reason: 'The item that changed last is the first, as with their Postgres.',
  },
  { places: /^the whole body$/, requests: /^PUT \/store\/items$/, reason: 'Every error has a "detail".' },
  { places: /^detail$/, reason: 'Errors are said in sentences of our own.' },
];
