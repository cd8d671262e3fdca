/**
 * Makes a JSON Schema of a TypeScript type, as far as JSON can hold its values: functions and symbols are left out,
 * LangChain messages are one definition, and a recursive type becomes a `$ref`. An unknown type is `{}`, which allows
 * anything.
 */
import ts from 'typescript-5';
import { isMessageType, isOverwrite, MESSAGE_DEFINITION, MESSAGE_NAME } from './langgraph-types.ts';

export type JsonSchema = Record<string, unknown>;

/** States are not as deep. The schema of an endless type stops here. */
const DEPTH_MAX = 24;
/** Maximum number of parts of one schema: more than a person would read, and fewer than a library's classes have. */
const PARTS_MAX = 5_000;
const { TypeFlags, SymbolFlags } = ts;
const NOTHING = TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never | TypeFlags.ESSymbolLike;
const LITERAL = TypeFlags.StringLiteral | TypeFlags.NumberLiteral | TypeFlags.BooleanLiteral;

export class TypeSchemas {
  readonly #checker: ts.TypeChecker;
  /** Types whose schema is being made, with the name of the definition if they turned out to need one. */
  #open = new Map<ts.Type, string | undefined>();
  #definitions: Record<string, JsonSchema> = {};
  #parts = 0;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** Returns undefined for a type that says nothing: `any`, `unknown`, `never`. */
  schemaOf(type: ts.Type): JsonSchema | undefined {
    if (type.flags & (TypeFlags.Any | TypeFlags.Unknown | NOTHING)) return undefined;
    this.#open = new Map();
    this.#definitions = {};
    this.#parts = 0;
    const schema = this.#convert(type);
    return {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...schema,
      ...(Object.keys(this.#definitions).length > 0 && { definitions: this.#definitions }),
    };
  }

  #convert(type: ts.Type): JsonSchema {
    this.#parts += 1;
    if (this.#open.size > DEPTH_MAX || this.#parts > PARTS_MAX) return {};
    if (type.isUnion()) return this.#ofUnion(type);
    return primitive(type) ?? this.#ofObject(type);
  }

  #ofUnion(type: ts.UnionType): JsonSchema {
    const members = type.types.filter((member) => !(member.flags & NOTHING) && !isOverwrite(member));
    const messages = this.#ofMessages(members);
    if (messages) return messages;
    const literals = members.filter((member) => member.flags & LITERAL);
    const schemas = members.filter((member) => !(member.flags & LITERAL)).map((member) => this.#convert(member));
    if (literals.length > 0) schemas.unshift(ofLiterals(literals));
    const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
    if (distinct.some((schema) => Object.keys(schema).length === 0)) return {};
    return distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
  }

  /**
   * Returns a list of messages for a channel of messages: it accepts them in many forms, and holds them in this one.
   */
  #ofMessages(members: ts.Type[]): JsonSchema | undefined {
    if (members.some((member) => this.#isListOfMessages(member))) return this.#listOfMessages();
    return members.length > 0 && members.every((member) => isMessageType(member, this.#checker))
      ? this.#message()
      : undefined;
  }

  #isListOfMessages(type: ts.Type): boolean {
    const item = this.#itemOf(type);
    if (!item) return false;
    const kinds = item.isUnion() ? item.types : [item];
    return kinds.some((kind) => isMessageType(kind, this.#checker));
  }

  #listOfMessages(): JsonSchema {
    return { type: 'array', items: this.#message(), langgraph_type: 'messages' };
  }

  #message(): JsonSchema {
    this.#definitions[MESSAGE_NAME] ??= MESSAGE_DEFINITION;
    return { $ref: `#/definitions/${MESSAGE_NAME}` };
  }

  #ofObject(type: ts.Type): JsonSchema {
    if (isMessageType(type, this.#checker)) return this.#message();
    if (this.#isListOfMessages(type)) return this.#listOfMessages();
    if (this.#open.has(type)) return { $ref: `#/definitions/${this.#nameDefinition(type)}` };
    this.#open.set(type, undefined);
    const schema = this.#ofList(type) ?? wellKnown(type) ?? this.#ofProperties(type);
    const name = this.#open.get(type);
    this.#open.delete(type);
    if (name === undefined) return schema;
    this.#definitions[name] = schema;
    return { $ref: `#/definitions/${name}` };
  }

  #nameDefinition(type: ts.Type): string {
    const known = this.#open.get(type);
    if (known !== undefined) return known;
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const wanted = symbol && /^\w+$/.test(symbol.name) && !symbol.name.startsWith('__') ? symbol.name : 'Recursive';
    const taken = new Set([...Object.keys(this.#definitions), ...this.#open.values()]);
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}${number}`;
    this.#open.set(type, name);
    return name;
  }

  #itemOf(type: ts.Type): ts.Type | undefined {
    return this.#checker.isArrayType(type) ? this.#checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
  }

  #ofList(type: ts.Type): JsonSchema | undefined {
    const item = this.#itemOf(type);
    if (item) return { type: 'array', items: this.#convert(item) };
    if (!this.#checker.isTupleType(type)) return undefined;
    const { target } = type as ts.TupleTypeReference;
    const items = this.#checker.getTypeArguments(type as ts.TupleTypeReference).map((inner) => this.#convert(inner));
    const rest = target.hasRestElement ? items.pop() : undefined;
    return {
      type: 'array',
      items,
      minItems: target.minLength,
      ...(rest ? { additionalItems: rest } : { maxItems: items.length }),
    };
  }

  #ofProperties(type: ts.Type): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const symbol of this.#checker.getPropertiesOfType(type)) {
      const property = this.#checker.getTypeOfSymbol(symbol);
      const isHidden = symbol.name.startsWith('__@') || symbol.name.startsWith('#') || isPrivate(symbol);
      if (isHidden || property.getCallSignatures().length > 0 || property.flags & TypeFlags.ESSymbolLike) continue;
      if (property.flags & TypeFlags.Never) continue;
      const description = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
      properties[symbol.name] = { ...this.#convert(property), ...(description !== '' && { description }) };
      if (!(symbol.flags & SymbolFlags.Optional) && !allowsUndefined(property)) required.push(symbol.name);
    }
    const index = this.#checker.getIndexTypeOfType(type, ts.IndexKind.String);
    return {
      type: 'object',
      ...((Object.keys(properties).length > 0 || !index) && { properties }),
      ...(required.length > 0 && { required }),
      ...(index && { additionalProperties: this.#convert(index) }),
    };
  }
}

/** Returns undefined for a type with parts. */
function primitive(type: ts.Type): JsonSchema | undefined {
  const { flags } = type;
  if (flags & LITERAL) return ofLiterals([type]);
  if (flags & TypeFlags.StringLike) return { type: 'string' };
  if (flags & TypeFlags.NumberLike) return { type: 'number' };
  if (flags & TypeFlags.BooleanLike) return { type: 'boolean' };
  if (flags & TypeFlags.BigIntLike) return { type: 'integer' };
  if (flags & TypeFlags.Null) return { type: 'null' };
  if (flags & (TypeFlags.Object | TypeFlags.Intersection)) return undefined;
  // This is `any`, a plain `object`, or a type parameter that nobody filled in.
  return flags & TypeFlags.NonPrimitive ? { type: 'object' } : {};
}

function ofLiterals(types: ts.Type[]): JsonSchema {
  const values = types.map(literalValue);
  const isBothBooleans = values.length === 2 && values.every((value) => typeof value === 'boolean');
  if (isBothBooleans) return { type: 'boolean' };
  const kinds = [...new Set(values.map((value) => typeof value))];
  return {
    ...(kinds.length === 1 && { type: kinds[0] }),
    ...(values.length === 1 ? { const: values[0] } : { enum: values }),
  };
}

function literalValue(type: ts.Type): unknown {
  if (type.flags & TypeFlags.BooleanLiteral)
    return (type as unknown as { intrinsicName: string }).intrinsicName === 'true';
  return (type as ts.LiteralType).value;
}

/** Returns the schema of JavaScript's own classes whose JSON form is not their properties. */
function wellKnown(type: ts.Type): JsonSchema | undefined {
  switch (type.getSymbol()?.name) {
    case 'Date':
      return { type: 'string', format: 'date-time' };
    case 'URL':
      return { type: 'string', format: 'uri' };
    case 'Map':
    case 'Set':
    case 'Promise':
    case 'Uint8Array':
    case 'Buffer':
      return {};
    default:
      return undefined;
  }
}

function allowsUndefined(type: ts.Type): boolean {
  if (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return false;
  return type.isUnion() && type.types.some(({ flags }) => flags & (TypeFlags.Undefined | TypeFlags.Void));
}

function isPrivate(symbol: ts.Symbol): boolean {
  const declaration = symbol.valueDeclaration;
  if (!declaration) return false;
  const modifiers = ts.getCombinedModifierFlags(declaration);
  return (modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0;
}
