import type { ErrorObject } from 'ajv';

/** An error, and for one of a union the errors of its members. */
export interface ReportedError {
  error: ErrorObject;
  inside: ErrorObject[];
}

/**
 * Returns the errors of a value, with those of the member that fits best in place of a union's, so that they name the
 * fault itself. A union stays one error where the fault is its value, and where two members fit equally well.
 *
 * @param errors as the compiler reports them: those of a union's members come right before its own
 */
export function descendIntoUnions(errors: ErrorObject[]): ReportedError[] {
  const reported: ReportedError[] = [];
  for (const error of errors) {
    if (!isUnion(error)) {
      reported.push({ error, inside: [] });
      continue;
    }
    let first = reported.length;
    while (first > 0 && isWithin(reported[first - 1]!.error, error)) first -= 1;
    const inside = reported.splice(first);
    const best = bestMember(error, inside);
    reported.push(...(best ?? [{ error, inside: inside.map((each) => each.error) }]));
  }
  return reported;
}

export function isUnion({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

function isWithin(error: ErrorObject, union: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${union.schemaPath}/`) && error.instancePath.startsWith(union.instancePath);
}

function bestMember(union: ErrorObject, inside: ReportedError[]): ReportedError[] | undefined {
  const members = new Map<string, ReportedError[]>();
  for (const each of inside) {
    const name = each.error.schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0]!;
    const known = members.get(name);
    if (known) known.push(each);
    else members.set(name, [each]);
  }
  const fitting = [...members.values()].filter((member) => !member.some(({ error }) => isOfOtherKind(error, union)));
  const [best, next] = fitting.sort((a, b) => a.length - b.length);
  // The union's own error says more of a fault of the value itself: all that it may be.
  const isInside = best?.some(({ error }) => isAboutField(error) || error.instancePath !== union.instancePath);
  return isInside && best?.length !== next?.length ? best : undefined;
}

function isAboutField({ keyword }: ErrorObject): boolean {
  return keyword === 'required' || keyword === 'additionalProperties';
}

/** Returns whether the value itself, or a field that tells members apart, is not what the member has. */
function isOfOtherKind(error: ErrorObject, union: ErrorObject): boolean {
  const depth = error.instancePath.split('/').length - union.instancePath.split('/').length;
  if (error.keyword === 'const') return depth <= 1;
  return depth === 0 && (error.keyword === 'type' || error.keyword === 'enum');
}
