import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FOLDER_KNOTS, HOSTS_IMPORT, PACKAGES_BOTTOM_UP, PROTOCOL_IMPORTS, PROTOCOLS } from './allowed-imports.ts';
import { findFolderKnots } from './folder-knots.ts';
import { drawnPage } from './import-picture.ts';
import {
  countProtocolImports,
  hostsAreApart,
  nobodyImportsAServicesInside,
  packagesFollowTheirOrder,
  servicesImportPackagesAlone,
  testKitImportsNoInfra,
} from './import-rules.ts';
import { importsIn, readImports, type SourceImport } from './source-imports.ts';

const repository = join(import.meta.dirname, '../..');
const imports = readImports(repository);

describe('imports of this repository', () => {
  it('follow the order that CONTRIBUTING.md defines', () => {
    const found = [
      ...servicesImportPackagesAlone(imports),
      ...packagesFollowTheirOrder(imports, PACKAGES_BOTTOM_UP),
      ...nobodyImportsAServicesInside(imports),
      ...testKitImportsNoInfra(imports),
      ...hostsAreApart(imports, HOSTS_IMPORT),
    ];
    expect([...new Set(found)]).toEqual([]);
  });

  it('are as ARCHITECTURE.md draws them (else: npm run -s generate:architecture)', () => {
    const { page, drawn } = drawnPage(repository);
    expect(page).toBe(drawn);
  });

  it('form no circle that a folder is part of but the listed ones, which only shrink', () => {
    expect(findFolderKnots(imports)).toEqual(FOLDER_KNOTS);
  });

  it('tie no protocol to another one but as listed, which only shrinks', () => {
    expect(countProtocolImports(imports, PROTOCOLS)).toEqual(PROTOCOL_IMPORTS);
  });
});

describe('the report of a planted violation', () => {
  const planted = (from: string, to: string): SourceImport[] => [{ from, to }];

  it('names a service that imports another service', () => {
    expect(servicesImportPackagesAlone(planted('services/gateway/src/a.ts', 'services/org-access/src/b.ts'))).toEqual([
      'services/gateway/src/a.ts → services/org-access/src/b.ts: a service imports packages alone',
    ]);
  });

  it('names a package that imports one above it, and not a test that imports test-kit', () => {
    const order = ['packages/low', 'packages/high', 'packages/test-kit'];
    expect(packagesFollowTheirOrder(planted('packages/low/src/a.ts', 'packages/high'), order)).toEqual([
      'packages/low/src/a.ts → packages/high: a package imports those above it in infra/rules/allowed-imports.ts',
    ]);
    expect(packagesFollowTheirOrder(planted('packages/high/src/a.ts', 'packages/low'), order)).toEqual([]);
    expect(packagesFollowTheirOrder(planted('packages/low/src/a.test.ts', 'packages/test-kit'), order)).toEqual([]);
    expect(packagesFollowTheirOrder(planted('packages/low/src/a.ts', 'packages/test-kit'), order)).toHaveLength(1);
  });

  it('names an end-to-end test that imports the inside of a service', () => {
    expect(nobodyImportsAServicesInside(planted('e2e/tests/a.test.ts', 'services/gateway/src/run.ts'))).toEqual([
      'e2e/tests/a.test.ts → services/gateway/src/run.ts: nobody outside imports the inside of a service',
    ]);
  });

  it('names what runs several services when it imports more of one than its package exports', () => {
    const runner = 'infra/platform-services/src/main.ts';
    expect(nobodyImportsAServicesInside(planted(runner, 'services/registry'))).toEqual([]);
    expect(nobodyImportsAServicesInside(planted(runner, 'services/registry/src/run.ts'))).toHaveLength(1);
    expect(nobodyImportsAServicesInside(planted('infra/launcher/src/main.ts', 'services/registry'))).toHaveLength(1);
  });

  it('names a host that imports the parent, and whoever imports a host', () => {
    const planted = [
      { from: 'hosts/javascript/src/a.ts', to: 'packages/host-client' },
      { from: 'packages/host-client/src/a.ts', to: 'hosts/javascript/src/b.ts' },
      { from: 'hosts/javascript/src/a.ts', to: 'packages/host-protocol' },
      { from: 'hosts/javascript/src/a.test.ts', to: 'packages/host-client' },
    ];
    const rule = 'a host imports packages that its project may wait for, and nobody imports a host';
    expect(hostsAreApart(planted, ['packages/host-protocol'])).toEqual([
      `hosts/javascript/src/a.ts → packages/host-client: ${rule}`,
      `packages/host-client/src/a.ts → hosts/javascript/src/b.ts: ${rule}`,
    ]);
  });

  it('names a part of test-kit that imports infra', () => {
    expect(testKitImportsNoInfra(planted('packages/test-kit/src/a.ts', 'infra/local'))).toEqual([
      'packages/test-kit/src/a.ts → infra/local: test-kit imports no infra',
    ]);
  });

  it('names folders that import each other over a third as a knot, at every depth, and not those that only import it', () => {
    const circle = (parent: string) => {
      const file = (folder: string) => `${parent}/${folder}/file.ts`;
      return [
        { from: file('one'), to: file('two') },
        { from: file('two'), to: file('three') },
        { from: file('three'), to: file('one') },
        { from: file('outside'), to: file('one') },
      ];
    };
    const parents = ['services/gateway/src', 'packages/leases/src/deep/deeper'];
    const knots = [['one', 'three', 'two']];
    expect(findFolderKnots(parents.flatMap(circle))).toEqual(Object.fromEntries(parents.map((name) => [name, knots])));
  });

  it('names a folder that imports itself over a file beside it, and no circle of files in one folder', () => {
    const edge = (from: string, to: string) => ({
      from: `packages/leases/src/${from}`,
      to: `packages/leases/src/${to}`,
    });
    const circle = [edge('one/file.ts', 'beside.ts'), edge('beside.ts', 'one/other.ts')];
    expect(findFolderKnots(circle)).toEqual({ 'packages/leases/src': [['beside.ts', 'one']] });
    expect(findFolderKnots([edge('one/a.ts', 'one/b.ts'), edge('one/b.ts', 'one/a.ts')])).toEqual({});
  });

  it('counts what a protocol imports of another one', () => {
    const file = (path: string) => `services/agent-api/src/${path}`;
    const found = [
      { from: file('mcp/a.ts'), to: file('a2a/b.ts') },
      { from: file('mcp/c/d.ts'), to: file('a2a/b.ts') },
      { from: file('mcp/a.ts'), to: file('mcp/c/d.ts') },
      { from: file('mcp/a.test.ts'), to: file('ag-ui/e.ts') },
      { from: file('run.ts'), to: file('a2a/b.ts') },
    ];
    expect(countProtocolImports(found, PROTOCOLS)).toEqual({ 'mcp → a2a': 2 });
  });

  it('covers imports in every form, also of types and at run time', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from '../b/b.ts';",
      'export {',
      '  c,',
      "} from '@runyard/contracts';",
      "import 'node:fs';",
      "const d = await import('@runyard/local-infra');",
    ].join('\n');
    const packages = new Map([
      ['@runyard/contracts', 'packages/contracts'],
      ['@runyard/local-infra', 'infra/local'],
    ]);
    expect(importsIn(text, 'services/gateway/src/x/y.ts', packages).map(({ to }) => to)).toEqual([
      'services/gateway/src/x/a.ts',
      'services/gateway/src/b/b.ts',
      'packages/contracts',
      'infra/local',
    ]);
  });
});
