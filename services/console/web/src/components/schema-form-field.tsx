import { Button } from './button.tsx';
import { childPath, type FieldFault } from './schema-form-faults.ts';
import { type Field, fieldOf, initialValue, isSchema, type JsonSchema } from './schema-form-fields.ts';
import { ChoiceField, EnumField, JsonField, NumberField, ScalarText } from './schema-form-scalars.tsx';

export interface SchemaFieldProps {
  schema: JsonSchema;
  /** The schema with the definitions that others refer to. */
  root: JsonSchema;
  /** The JSON Pointer of the value, by which it is found in `faults`. */
  path: string;
  label: string;
  isRequired: boolean;
  value: unknown;
  /** Undefined leaves the value out. */
  onChange(value: unknown): void;
  faults: readonly FieldFault[];
}

export interface ControlProps extends SchemaFieldProps {
  field: Field;
  fault: string | undefined;
}

/** Shows what a person fills in for one schema, and all that is within it. */
export function SchemaField(props: SchemaFieldProps) {
  const { schema, root, path, label, isRequired, value, onChange, faults } = props;
  const field = fieldOf(schema, root);
  const { kind } = field.control;
  const title = field.title ?? label;
  const fault = faults.find((each) => each.path === path)?.text;
  const inner: ControlProps = { ...props, field, fault, label: isRequired ? title : `${title} (optional)` };
  // Texts, numbers and choices among values are left out by being empty; others need a word.
  const isSimple = kind === 'text' || kind === 'number' || kind === 'enum' || kind === 'boolean';
  const isMissing = value === undefined && !isSimple && !(kind === 'object' && path === '');
  if (isMissing && kind !== 'json') {
    return (
      <div className="flex flex-col gap-1">
        <Button className="self-start" size="small" onClick={() => onChange(initialValue(schema, root) ?? {})}>
          Add {title}
        </Button>
        {field.description && <p className="text-xs text-faint">{field.description}</p>}
        {fault && <p className="text-xs text-fault">{fault}</p>}
      </div>
    );
  }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {value === null && field.isNullable ? (
        <p className="text-sm">
          <span className="text-xs font-semibold">{inner.label}</span> <code className="text-faint">null</code>
        </p>
      ) : (
        <Controlled {...inner} />
      )}
      {(field.isNullable || (!isRequired && !isSimple && kind !== 'json')) && (
        <div className="flex gap-2">
          {field.isNullable && <NullButton {...inner} title={title} />}
          {!isRequired && value !== undefined && !isSimple && (
            <Button size="small" look="quiet" onClick={() => onChange(undefined)}>
              Leave out {title}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function NullButton({ value, onChange, root, title, field }: ControlProps & { title: string }) {
  const { default: given, ...schema } = field.schema;
  return (
    <Button
      size="small"
      look="quiet"
      onClick={() => onChange(value === null ? (given ?? initialValue(schema, root)) : null)}
    >
      {value === null ? `Fill in ${title}` : `Make ${title} null`}
    </Button>
  );
}

function Controlled(props: ControlProps) {
  switch (props.field.control.kind) {
    case 'text':
      return <ScalarText {...props} />;
    case 'number':
      return <NumberField {...props} />;
    case 'boolean':
    case 'enum':
      return <EnumField {...props} />;
    case 'choice':
      return <ChoiceField {...props} />;
    case 'object':
      return <ObjectField {...props} />;
    case 'array':
      return <ArrayField {...props} />;
    case 'null':
      return <p className="text-sm text-faint">{props.label}: null</p>;
    case 'json':
      return <JsonField {...props} />;
  }
}

function Group({ field, label, fault, path, children }: ControlProps & { children: React.ReactNode }) {
  return (
    <fieldset className={`flex min-w-0 flex-col gap-3 ${path === '' ? '' : 'border-l-2 border-line pl-3'}`}>
      <legend className={path === '' ? 'sr-only' : 'mb-2 text-xs font-semibold'}>{label}</legend>
      {field.description && <p className="text-xs text-faint">{field.description}</p>}
      {children}
      {fault && <p className="text-xs text-fault">{fault}</p>}
    </fieldset>
  );
}

function ObjectField(props: ControlProps) {
  const { field, root, path, value, onChange, faults } = props;
  if (field.control.kind !== 'object') return null;
  const object = isSchema(value) ? value : {};
  const change = (name: string, inner: unknown) => {
    const { [name]: _, ...others } = object;
    onChange(inner === undefined ? others : { ...object, [name]: inner });
  };
  return (
    <Group {...props}>
      {field.control.properties.map(({ name, schema, isRequired }) => (
        <SchemaField
          key={name}
          {...{ schema, root, isRequired, faults }}
          path={childPath(path, name)}
          label={name}
          value={Object.hasOwn(object, name) ? object[name] : undefined}
          onChange={(inner) => change(name, inner)}
        />
      ))}
    </Group>
  );
}

function ArrayField(props: ControlProps) {
  const { field, root, path, value, onChange, faults } = props;
  if (field.control.kind !== 'array') return null;
  const { items } = field.control;
  const list: unknown[] = Array.isArray(value) ? value : [];
  const blank = () => initialValue(items, root) ?? (fieldOf(items, root).control.kind === 'text' ? '' : undefined);
  return (
    <Group {...props}>
      {list.map((item, index) => (
        // Entries have no other name, and keep nothing of their own.
        <div key={index} className="flex items-end gap-2">
          <div className="min-w-0 flex-1">
            <SchemaField
              {...{ root, faults }}
              schema={items}
              path={childPath(path, index)}
              label={`Entry ${index + 1}`}
              isRequired
              value={item}
              onChange={(inner) => onChange(list.with(index, inner))}
            />
          </div>
          <Button
            size="small"
            look="quiet"
            aria-label={`Remove entry ${index + 1}`}
            onClick={() => onChange(list.toSpliced(index, 1))}
          >
            ✕
          </Button>
        </div>
      ))}
      <Button className="self-start" size="small" onClick={() => onChange([...list, blank()])}>
        Add an entry
      </Button>
    </Group>
  );
}
