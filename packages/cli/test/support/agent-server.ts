import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: bodies of every operation.
type Body = any;

interface State {
  values: Json;
  next: string[];
  tasks: Body[];
  metadata: Json;
  id: string;
  parent: string | undefined;
}

/**
 * The smallest server of the agent server API: one graph `chat` with the nodes `answer` and, after it, `check`. Lists
 * of messages are merged by their ids, other lists are appended to.
 */
export class FakeAgentServer {
  readonly assistants = new Map<string, Json[]>();
  readonly latest = new Map<string, number>();
  readonly threads = new Map<string, Body>();
  readonly states = new Map<string, State[]>();
  readonly crons = new Map<string, Body>();
  readonly items = new Map<string, Body>();
  /** Requests that changed something. */
  readonly writes: string[] = [];
  /** Returns an answer in place of the real one; `text` is JSON that is too deep to be written from a value. */
  intercept: (request: {
    method: string;
    path: string;
    body: Body;
    headers: IncomingMessage['headers'];
  }) => { status: number; body?: unknown; text?: string } | undefined = () => undefined;
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<this> {
    this.addAssistant({ graph_id: 'chat', name: 'chat', metadata: { created_by: 'system' } });
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  addAssistant(fields: Json, id: string = randomUUID()): string {
    const made = { assistant_id: id, description: null, config: {}, context: {}, metadata: {}, version: 1, ...fields };
    this.assistants.set(id, [made]);
    this.latest.set(id, 1);
    return id;
  }

  addThread(fields: Json = {}, id: string = randomUUID()): string {
    const updated_at = new Date().toISOString();
    this.threads.set(id, { thread_id: id, metadata: {}, status: 'idle', runs: [], updated_at, ...fields });
    return id;
  }

  /** Adds a thread with a history of two turns, as runs of the graph would have made it. */
  addConversation(text: string, id: string = randomUUID()): string {
    this.addThread({ metadata: { graph_id: 'chat', about: text } }, id);
    for (const turn of ['one', 'two']) {
      const said = { type: 'human', content: `${text} ${turn}`, id: `${id}-${turn}` };
      const answered = { type: 'ai', content: 'yes', id: `${id}-${turn}-answer` };
      // A client's message gets its id by the reducer, so the task has none.
      const { id: _id, ...given } = said;
      this.#push(id, this.#values(id), 'input', ['__start__'], [{ messages: [given] }]);
      this.#push(
        id,
        merge(this.#values(id), { messages: [said] }),
        'loop',
        ['answer'],
        [{ messages: [answered], log: ['answered'] }],
      );
      this.#push(id, merge(this.#values(id), { messages: [answered], log: ['answered'] }), 'loop', [], []);
    }
    return id;
  }

  stateOf(threadId: string): State | undefined {
    return this.states.get(threadId)?.at(-1);
  }

  putItem(namespace: string[], key: string, value: Json, updated_at = new Date().toISOString()): void {
    this.items.set(`${namespace.join('.')}/${key}`, { namespace, key, value, updated_at });
  }

  addCron(fields: Json, id: string = randomUUID()): string {
    const times = { end_time: null, timezone: 'UTC', thread_id: null, on_run_completed: 'delete' };
    this.crons.set(id, { cron_id: id, ...times, metadata: {}, enabled: true, payload: {}, ...fields });
    return id;
  }

  #values(id: string): Json {
    return this.stateOf(id)?.values ?? {};
  }

  #push(id: string, values: Json, source: string, next: string[], results: unknown[] = []): void {
    const states = this.states.get(id) ?? [];
    const tasks = next.map((name, index) => ({ name, result: results[index] ?? null, interrupts: [] }));
    const metadata = { source, step: states.length - 1 };
    const made = { values, next, tasks, metadata, id: randomUUID(), parent: states.at(-1)?.id };
    this.states.set(id, [...states, made]);
  }

  #applySupersteps(id: string, supersteps: Body[]): void {
    for (const { updates } of supersteps) {
      for (const { as_node, values, command } of updates) {
        const written = command ? command.update : values;
        if (as_node === '__input__') this.#push(id, this.#values(id), 'input', ['__start__']);
        else if (as_node === '__end__') this.#push(id, this.#values(id), 'update', []);
        else {
          const next = command?.goto ?? { __start__: ['answer'], answer: [], check: [] }[as_node as string];
          if (next === undefined) throw new Error(`Node ${as_node} does not exist`);
          this.#push(id, merge(this.#values(id), written ?? {}), 'update', next);
        }
      }
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://server');
    const method = request.method ?? 'GET';
    const body = text === '' ? undefined : JSON.parse(text);
    const isRead = method === 'GET' || /\/(search|versions)$/.test(path);
    if (!isRead) this.writes.push(`${method} ${path}`);
    const intercepted = this.intercept({ method, path, body, headers: request.headers });
    const answer = intercepted ?? this.#respond(method, path, query, body);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(intercepted?.text ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body)));
  }

  #respond(method: string, path: string, query: URLSearchParams, body: Body): { status: number; body?: unknown } {
    const [, first, id = '', below] = path.split('/');
    const found = (value: unknown) => (value === undefined ? missing : { status: 200, body: value });
    const route = `${method} /${first}${below ? `/*/${path.split('/').slice(3).join('/')}` : ''}`;
    if (path === '/assistants/search')
      return page(
        [...this.assistants.keys()].map((key) => this.#assistant(key)),
        body,
      );
    if (path === '/threads/search') return page([...this.threads.values()], body);
    if (path === '/runs/crons/search') return page([...this.crons.values()], body);
    if (path === '/store/items/search')
      return { status: 200, body: { items: page([...this.items.values()], body).body } };
    if (path === '/runs/crons' || route === 'POST /threads/*/runs/crons')
      return this.#createCron(body, first === 'threads' ? id : null);
    if (method === 'PATCH' && path.startsWith('/runs/crons/')) {
      const cron = this.crons.get(path.split('/')[3] ?? '');
      return found(Object.assign(cron, { ...body, metadata: { ...cron.metadata, ...body.metadata } }));
    }
    if (method === 'DELETE' && path.startsWith('/runs/crons/')) {
      return this.crons.delete(path.split('/')[3] ?? '') ? { status: 204 } : missing;
    }
    if (path === '/store/items') {
      if (method === 'GET')
        return { status: 200, body: this.items.get(`${query.get('namespace')}/${query.get('key')}`) ?? null };
      this.putItem(body.namespace, body.key, body.value);
      return { status: 204 };
    }
    switch (route) {
      case 'GET /assistants':
        return found(this.#assistant(id));
      case 'GET /assistants/*/graph':
        return { status: 200, body: DRAWN };
      case 'POST /assistants':
        return found(this.#assistant(this.addAssistant(body, body.assistant_id)));
      case 'PATCH /assistants': {
        const versions = this.assistants.get(id) ?? [];
        this.assistants.set(id, [...versions, { ...versions.at(-1), ...body, version: versions.length + 1 }]);
        this.latest.set(id, versions.length + 1);
        return found(this.#assistant(id));
      }
      case 'POST /assistants/*/versions':
        return page([...(this.assistants.get(id) ?? [])].reverse(), body);
      case 'POST /assistants/*/latest':
        this.latest.set(id, body.version);
        return found(this.#assistant(id));
      case 'POST /threads':
        if (this.threads.has(body.thread_id)) return { status: 409, body: { detail: 'exists' } };
        this.addThread({ metadata: body.metadata }, body.thread_id);
        try {
          this.#applySupersteps(body.thread_id, body.supersteps ?? []);
        } catch (error) {
          return { status: 400, body: { detail: (error as Error).message } };
        }
        return found(this.threads.get(body.thread_id));
      case 'GET /threads':
        return found(this.threads.get(id));
      case 'DELETE /threads':
        this.threads.delete(id);
        this.states.delete(id);
        return { status: 204 };
      case 'GET /threads/*/runs':
        return found(this.threads.get(id)?.runs);
      case 'GET /threads/*/state':
        return { status: 200, body: onWire(this.stateOf(id)) };
      case 'GET /threads/*/history': {
        const newestFirst = [...(this.states.get(id) ?? [])].reverse();
        const start = newestFirst.findIndex((state) => state.id === query.get('before')) + 1;
        return { status: 200, body: newestFirst.slice(start, start + Number(query.get('limit'))).map(onWire) };
      }
      default:
        return missing;
    }
  }

  #assistant(id: string): Json | undefined {
    return this.assistants.get(id)?.find(({ version }) => version === this.latest.get(id));
  }

  #createCron(body: Body, threadId: string | null) {
    const { metadata, enabled, schedule, timezone = 'UTC', end_time = null, assistant_id, on_run_completed } = body;
    const payload = { ...body, config: { configurable: { ...body.config?.configurable, cron_id: 'its own' } } };
    const fields = { metadata, enabled, schedule, timezone, end_time, assistant_id, on_run_completed, payload };
    return { status: 200, body: this.crons.get(this.addCron({ ...fields, thread_id: threadId })) };
  }
}

const DRAWN = {
  nodes: ['__start__', 'answer', 'check', '__end__'].map((id) => ({ id })),
  edges: [
    { source: '__start__', target: 'answer' },
    { source: 'answer', target: '__end__' },
  ],
};
const missing = { status: 404, body: { detail: 'not found' } };

function page(rows: Body[], { limit, offset = 0, metadata = {} }: Body) {
  const matching = rows.filter((row) =>
    Object.entries(metadata).every(([key, value]) => row.metadata?.[key] === value),
  );
  return { status: 200, body: matching.slice(offset, offset + limit) };
}

function onWire(state: State | undefined) {
  if (!state) return { values: {}, next: [], tasks: [], metadata: null, checkpoint: null, parent_checkpoint: null };
  const { id, parent, ...rest } = state;
  const parent_checkpoint = parent === undefined ? null : { checkpoint_id: parent };
  return { ...rest, checkpoint: { checkpoint_id: id }, parent_checkpoint };
}

function merge(values: Json, written: Json): Json {
  const merged = { ...values };
  for (const [key, value] of Object.entries(written)) {
    const known = (values[key] ?? []) as Body[];
    if (!Array.isArray(value)) merged[key] = value;
    else if (key !== 'messages') merged[key] = [...known, ...value];
    else merged[key] = [...new Map([...known, ...value].map((message) => [message.id, message])).values()];
  }
  return merged;
}
