import { deploymentRoute } from '@runyard/test-kit/fake-platform';
import { describe, expect, it } from 'vitest';
import { DeploymentTable } from './deployment-table.ts';

const upstreams = ['http://127.0.0.1:1'];

describe('the table of deployments', () => {
  it('finds a deployment by id, by slug and by its name in a workspace', () => {
    const table = new DeploymentTable();
    const route = deploymentRoute({ upstreams, slug: 'hello' });
    table.replace([route]);
    expect(table.find(route.deployment_id)).toBe(route);
    expect(table.find(route.deployment_id.toUpperCase())).toBe(route);
    expect(table.find('hello')).toBe(route);
    expect(table.find('other')).toBeUndefined();
    expect(table.findNamed(route.name, route.workspace_id)).toBe(route);
    expect(table.findNamed(route.name, deploymentRoute({ upstreams }).workspace_id)).toBeUndefined();
  });

  it('knows only what the last snapshot has', () => {
    const table = new DeploymentTable();
    const deleted = deploymentRoute({ upstreams, slug: 'old' });
    const renamed = deploymentRoute({ upstreams, slug: 'before' });
    table.replace([deleted, renamed]);
    table.replace([{ ...renamed, slug: 'after' }]);
    expect(table.find(deleted.deployment_id)).toBeUndefined();
    expect(table.find('old')).toBeUndefined();
    expect(table.find('before')).toBeUndefined();
    expect(table.find('after')?.deployment_id).toBe(renamed.deployment_id);
    expect(table.size).toBe(1);
  });

  it('is loaded only after a snapshot', () => {
    const table = new DeploymentTable();
    expect(table.isLoaded).toBe(false);
    table.replace([]);
    expect(table.isLoaded).toBe(true);
  });
});
