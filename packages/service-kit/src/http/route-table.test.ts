import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.ts';

function table(...routes: [method: string, template: string][]): RouteTable<string> {
  const made = new RouteTable<string>();
  for (const [method, template] of routes) made.add(method, template, `${method} ${template}`);
  return made;
}

describe('a route table', () => {
  const routes = table(
    ['get', '/threads/{thread_id}'],
    ['post', '/threads/search'],
    ['post', '/threads'],
    ['get', '/threads/{thread_id}/state/{checkpoint_id}'],
    ['post', '/threads/{thread_id}/state/checkpoint'],
    ['get', '/files/{path...}'],
    ['get', '/tasks/{task_id}'],
    ['post', '/tasks/{task_id}:cancel'],
  );

  it('prefers a fixed segment, and backtracks when it does not match', () => {
    expect(routes.find('POST', '/threads/search')).toMatchObject({ target: 'post /threads/search' });
    expect(routes.find('GET', '/threads/search')).toMatchObject({ params: { thread_id: 'search' } });
    expect(routes.find('GET', '/threads/T/state/checkpoint')).toMatchObject({
      params: { thread_id: 'T', checkpoint_id: 'checkpoint' },
    });
  });

  it('decodes placeholders after splitting', () => {
    expect(routes.find('GET', '/threads/a%2Fb')).toMatchObject({ params: { thread_id: 'a/b' } });
    expect(routes.find('GET', '/threads/%zz')).toEqual({ kind: 'none' });
    expect(routes.find('GET', '/files/a/b%20c')).toMatchObject({ params: { path: 'a/b c' } });
  });

  it('takes the verb behind the last colon that is not encoded', () => {
    expect(routes.find('POST', '/tasks/a:b:cancel')).toMatchObject({ params: { task_id: 'a:b' } });
    expect(routes.find('POST', '/tasks/a%3Acancel:cancel')).toMatchObject({ params: { task_id: 'a:cancel' } });
    expect(routes.find('GET', '/tasks/a:b')).toMatchObject({ params: { task_id: 'a:b' } });
    expect(routes.find('POST', '/tasks/a%3Acancel')).toEqual({ kind: 'wrong method', allowed: ['GET', 'HEAD'] });
    expect(routes.find('POST', '/tasks/:cancel').kind).toBe('wrong method');
  });

  it('serves HEAD where GET exists', () => {
    expect(routes.find('HEAD', '/threads/T')).toMatchObject({ kind: 'found' });
  });

  it('distinguishes a wrong method from an unknown path', () => {
    expect(routes.find('DELETE', '/threads')).toEqual({ kind: 'wrong method', allowed: ['POST'] });
    expect(routes.find('PUT', '/threads/search')).toEqual({ kind: 'wrong method', allowed: ['GET', 'HEAD', 'POST'] });
    for (const path of ['/threads/', '/Threads', '/threads/T/', '/', '//threads'])
      expect(routes.find('GET', path)).toEqual({ kind: 'none' });
  });

  it('refuses two operations for one method and path', () => {
    expect(() => table(['get', '/a/{x}'], ['get', '/a/{y}'])).toThrow('Two operations');
  });
});
