import type { Deployment, DeploymentPatch, Secret, SecretReference } from '@runyard/contracts';

/** A variable as the form has it: with a value, or with a reference to where the value is. */
export type VariableDraft = { key: string; name: string } & (
  | { kind: 'value'; value: string }
  | { kind: 'reference'; secret_name: string; secret_key: string }
);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns the variables of a deployment for the form; null where the person may not read them. */
export function draftsOf({ secrets, secret_references: references }: Deployment): VariableDraft[] | null {
  if (secrets === null) return null;
  return [
    ...secrets.map(({ name, value }) => ({ key: `value-${name}`, kind: 'value' as const, name, value })),
    ...references.map((reference) => ({
      key: `reference-${reference.name}`,
      kind: 'reference' as const,
      ...reference,
    })),
  ];
}

/**
 * Returns what to send for the drafts, and undefined where they change nothing. A list of the platform replaces the
 * whole set, so the list that has a change is sent whole, and the other one not at all.
 */
export function variablesPatch(
  { secrets, secret_references: references }: Deployment,
  drafts: readonly VariableDraft[],
): Pick<DeploymentPatch, 'secrets' | 'secret_references'> | undefined {
  const values: Secret[] = drafts.flatMap((draft) =>
    draft.kind === 'value' ? [{ name: draft.name, value: draft.value }] : [],
  );
  const newReferences: SecretReference[] = drafts.flatMap((draft) =>
    draft.kind === 'reference'
      ? [{ name: draft.name, secret_name: draft.secret_name, secret_key: draft.secret_key }]
      : [],
  );
  const patch = {
    ...(!isSame(values, secrets ?? []) && { secrets: values }),
    ...(!isSame(newReferences, references) && { secret_references: newReferences }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Returns the sentence about each draft that cannot be saved, by its key. */
export function draftFaults(drafts: readonly VariableDraft[]): Map<string, string> {
  const faults = new Map<string, string>();
  const names = new Set<string>();
  for (const draft of drafts) {
    const { key, name } = draft;
    if (!NAME.test(name)) faults.set(key, 'A name has letters, digits and _, and begins with no digit');
    else if (names.has(name)) faults.set(key, `There is another variable of the name ${name}`);
    else if (draft.kind === 'reference' && (draft.secret_name === '' || draft.secret_key === ''))
      faults.set(key, 'A reference needs the name and the key of a secret');
    names.add(name);
  }
  return faults;
}

function isSame(ones: readonly { name: string }[], others: readonly { name: string }[]): boolean {
  const sorted = (list: readonly { name: string }[]) =>
    JSON.stringify(
      [...list]
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .map((entry) => Object.entries(entry).sort(([one], [other]) => (one < other ? -1 : 1))),
    );
  return sorted(ones) === sorted(others);
}
