/** An attribute as a schema publishes it (RFC 7643 §7). */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference' | 'binary';
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readWrite' | 'readOnly' | 'immutable';
  returned: 'default' | 'always';
  uniqueness: 'none' | 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
}

export interface Schema {
  /** Its URN. */
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

/** Describes an attribute: a readable and writable text, unless `more` says otherwise. */
export function attribute(name: string, description: string, more: Partial<Attribute> = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...more,
  };
}

/** Describes a list of values with type, display name and the mark of the preferred one. */
export function multiValued(
  name: string,
  description: string,
  {
    types,
    value,
    required = false,
  }: { types?: readonly string[]; value?: Partial<Attribute>; required?: boolean } = {},
): Attribute {
  return attribute(name, description, {
    type: 'complex',
    multiValued: true,
    required,
    subAttributes: [
      attribute('value', 'The value itself.', { required, ...value }),
      attribute('display', 'A name for people to read.'),
      attribute('type', 'Tells values apart by their use.', types && { canonicalValues: types }),
      attribute('primary', 'True for the preferred value; at most one is.', { type: 'boolean' }),
    ],
  });
}
