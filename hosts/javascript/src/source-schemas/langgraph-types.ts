/** Recognizes types of LangGraph and LangChain by the marks they carry, in any of their versions. */
import type ts from 'typescript-5';

export const MESSAGE_NAME = 'BaseMessage';

/** JSON Schema of a message on the wire. */
export const MESSAGE_DEFINITION = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    content: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
    id: { type: 'string' },
    name: { type: 'string' },
    additional_kwargs: { type: 'object' },
    response_metadata: { type: 'object' },
  },
  required: ['type', 'content'],
};

/** Returns whether the type is a class of messages. */
export function isMessageType(type: ts.Type, checker: ts.TypeChecker): boolean {
  const symbol = type.getSymbol();
  if (symbol === undefined || (!symbol.name.endsWith('Message') && !symbol.name.endsWith('MessageChunk'))) return false;
  return ['_getType', 'additional_kwargs'].every((name) => checker.getPropertyOfType(type, name) !== undefined);
}

/** Returns whether the type is what a node may return instead of an update, to set a channel past its reducer. */
export function isOverwrite(type: ts.Type): boolean {
  return type.getProperty('__overwrite__') !== undefined;
}

export interface GraphTypes {
  input: ts.Type | undefined;
  output: ts.Type | undefined;
  state: ts.Type | undefined;
  context: ts.Type | undefined;
}

/** Returns the input, output, state and context types of a graph; undefined when the type is no graph. */
export function graphTypesOf(exported: ts.Type, checker: ts.TypeChecker): GraphTypes | undefined {
  const graph = compiledGraphOf(exported, checker);
  if (!graph) return undefined;
  const property = (name: string) => propertyType(graph, name, checker);
  return {
    input: property('~InputType'),
    output: property('~OutputType'),
    // Graphs without their own channels, as `entrypoint` makes them, store their output.
    state: property('~RunOutput') ?? property('~OutputType'),
    context: contextOf(graph, checker),
  };
}

/**
 * Returns the compiled graph that an export stands for: itself, what its builder compiles to, or what its factory
 * returns.
 */
function compiledGraphOf(type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined {
  let current = checker.getAwaitedType(type) ?? type;
  const factory = current.getCallSignatures()[0];
  if (factory) current = checker.getAwaitedType(factory.getReturnType()) ?? factory.getReturnType();
  // `createAgent` returns a wrapper with the compiled graph inside.
  const wrapped = propertyType(current, 'graph', checker);
  for (const candidate of [current, ...(wrapped ? [wrapped] : [])]) {
    if (candidate.getProperty('~InputType')) return candidate;
    const compiled = propertyType(candidate, 'compile', checker)?.getCallSignatures()[0]?.getReturnType();
    if (compiled?.getProperty('~InputType')) return compiled;
  }
  return undefined;
}

/** Returns the type of `context` for callers; undefined for a graph that does not declare it and accepts any keys. */
function contextOf(graph: ts.Type, checker: ts.TypeChecker): ts.Type | undefined {
  const options = propertyType(graph, 'invoke', checker)?.getCallSignatures()[0]?.getParameters()[1];
  const context =
    options && propertyType(checker.getNonNullableType(checker.getTypeOfSymbol(options)), 'context', checker);
  const given = context && checker.getNonNullableType(context);
  return given && checker.getPropertiesOfType(given).length > 0 ? given : undefined;
}

function propertyType(type: ts.Type, name: string, checker: ts.TypeChecker): ts.Type | undefined {
  const symbol = checker.getPropertyOfType(type, name);
  return symbol && checker.getTypeOfSymbol(symbol);
}
