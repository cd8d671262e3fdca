import { isTestFile, packageOf, type SourceImport } from './source-imports.ts';

/** The folder that protocols have their folders in. */
const PROTOCOLS_IN = 'services/agent-api/src';

/** These packages run several services in one process. */
const SEVERAL_SERVICES: ReadonlySet<string> = new Set(['infra/agent-services', 'infra/platform-services']);

/** One import, or circle of folders, that a rule forbids, as a line for whoever made it. */
export type Violation = string;

/** Services know each other through `packages/contracts`: a service imports packages alone. */
export function servicesImportPackagesAlone(imports: SourceImport[]): Violation[] {
  return violations(
    imports.filter(({ from }) => from.startsWith('services/')),
    (_from, to) => to.startsWith('packages/'),
    'a service imports packages alone',
  );
}

/** Each package imports those below it; a package that imports one above it closes a circle sooner or later. */
export function packagesFollowTheirOrder(imports: SourceImport[], bottomUp: string[]): Violation[] {
  const rank = (name: string) => bottomUp.indexOf(name);
  return violations(
    imports.filter(({ from }) => from.startsWith('packages/')),
    (from, to, isTest) => (rank(to) >= 0 && rank(to) < rank(from)) || (isTest && to === 'packages/test-kit'),
    'a package imports those above it in infra/rules/allowed-imports.ts',
  );
}

/** The process that runs a project's code loads little, and nobody but a service's bundle knows its inside. */
export function hostsAreApart(imports: SourceImport[], allowed: string[]): Violation[] {
  const rule = 'a host imports packages that its project may wait for, and nobody imports a host';
  return [
    ...violations(
      imports.filter(({ from }) => from.startsWith('hosts/') && !isTestFile(from)),
      (_from, to) => allowed.includes(to),
      rule,
    ),
    ...violations(imports, (from, to) => from.startsWith('hosts/') || !to.startsWith('hosts/'), rule),
  ];
}

/**
 * Code that uses the platform from outside (end-to-end tests, benches, the launcher) must not know the inside of a
 * service. A process that runs several imports their packages, which export nothing but how to run them.
 */
export function nobodyImportsAServicesInside(imports: SourceImport[]): Violation[] {
  return violations(
    imports.filter(({ from, to }) => {
      const isDefinition = SEVERAL_SERVICES.has(packageOf(from)) && to === packageOf(to);
      return !from.startsWith('services/') && !isDefinition;
    }),
    (_from, to) => !to.startsWith('services/'),
    'nobody outside imports the inside of a service',
  );
}

/** The tests' kit must not need what starts the platform: the launcher's own tests use the kit. */
export function testKitImportsNoInfra(imports: SourceImport[]): Violation[] {
  return violations(
    imports.filter(({ from }) => from.startsWith('packages/test-kit/')),
    (_from, to) => !to.startsWith('infra/'),
    'test-kit imports no infra',
  );
}

/** Counts the imports of a protocol's folder by another's: what two of them need belongs to neither. */
export function countProtocolImports(imports: SourceImport[], protocols: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { from, to } of imports) {
    const [importing, imported] = [from, to].map((file) =>
      protocols.find((name) => file.startsWith(`${PROTOCOLS_IN}/${name}/`)),
    );
    if (!importing || !imported || importing === imported || isTestFile(from)) continue;
    const pair = `${importing} → ${imported}`;
    counts[pair] = (counts[pair] ?? 0) + 1;
  }
  return counts;
}

function violations(
  imports: SourceImport[],
  isAllowed: (from: string, to: string, isTest: boolean) => boolean,
  rule: string,
): Violation[] {
  return imports
    .filter(({ from, to }) => {
      const [owner, target] = [packageOf(from), packageOf(to)];
      return owner !== target && !isAllowed(owner, target, isTestFile(from));
    })
    .map(({ from, to }) => `${from} → ${to}: ${rule}`);
}
