import { deploymentRoute } from '@runyard/test-kit/fake-platform';
import { describe, expect, it } from 'vitest';
import { DeploymentTable } from './deployment-table.ts';

const upstreams = ['http://127.0.0.1:1'];

describe('the table of deployments', () => {
  it('finds a deployment by id and by slug', () => {
    const table = new DeploymentTable();
    const route = deploymentRoute({ upstreams, slug: 'hello' });
    table.apply(route);
    expect(table.find(route.deployment_id)).toBe(route);
    expect(table.find(route.deployment_id.toUpperCase())).toBe(route);
    expect(table.find('hello')).toBe(route);
    expect(table.find('other')).toBeUndefined();
  });

  it('keeps the higher version, in whatever order they arrive', () => {
    const table = new DeploymentTable();
    const older = deploymentRoute({ upstreams, slug: 'old-name', version: 3 });
    const newer = { ...older, slug: 'new-name', version: 4, upstreams: ['http://127.0.0.1:2'] };
    table.apply(newer);
    table.apply(older);
    table.applySnapshot([older]);
    expect(table.find(older.deployment_id)).toBe(newer);
    expect(table.find('old-name')).toBeUndefined();
  });

  it('does not bring a deleted deployment back through an older event or snapshot', () => {
    const table = new DeploymentTable();
    const route = deploymentRoute({ upstreams, version: 5 });
    table.beginSnapshot();
    table.remove(route.deployment_id, 6);
    table.apply(route);
    table.applySnapshot([route]);
    expect(table.find(route.deployment_id)).toBeUndefined();
  });

  it('ignores a deletion older than what is known', () => {
    const table = new DeploymentTable();
    const route = deploymentRoute({ upstreams, version: 5 });
    table.apply(route);
    table.remove(route.deployment_id, 4);
    expect(table.find(route.deployment_id)).toBe(route);
  });

  it('drops what a snapshot no longer has, but not what an event brought while it was under way', () => {
    const table = new DeploymentTable();
    const gone = deploymentRoute({ upstreams });
    const fresh = deploymentRoute({ upstreams });
    table.apply(gone);
    table.beginSnapshot();
    table.apply(fresh);
    table.applySnapshot([]);
    expect(table.find(gone.deployment_id)).toBeUndefined();
    expect(table.find(fresh.deployment_id)).toBe(fresh);
  });

  it('gives a slug to the deployment that took it over', () => {
    const table = new DeploymentTable();
    const first = deploymentRoute({ upstreams, slug: 'hello' });
    const second = deploymentRoute({ upstreams, slug: 'hello' });
    table.apply(first);
    table.apply(second);
    table.apply({ ...first, slug: null, version: 2 });
    expect(table.find('hello')).toBe(second);
  });

  it('is loaded only after a snapshot', () => {
    const table = new DeploymentTable();
    table.apply(deploymentRoute({ upstreams }));
    expect(table.isLoaded).toBe(false);
    table.applySnapshot([]);
    expect(table.isLoaded).toBe(true);
  });
});
