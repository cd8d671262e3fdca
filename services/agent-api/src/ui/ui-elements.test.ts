import { expect, it } from 'vitest';
import { requestBaseUrl } from '../http/base-url.ts';
import { uiElements } from './ui-elements.ts';

const basenames = ['entrypoint.js', 'entrypoint.css', 'entrypoint.js.map'];

it('styles come before the script, which shows the component once it is loaded', () => {
  expect(uiElements('my-agent', 'weather', { address: 'https://here/deployments/d', basenames })).toBe(
    [
      '<link rel="stylesheet" href="https://here/deployments/d/ui/my-agent/entrypoint.css" />',
      `<script src="https://here/deployments/d/ui/my-agent/entrypoint.js" onload='__LGUI_my_agent.render("weather", "{{shadowRootId}}")'></script>`,
    ].join('\n'),
  );
});

it('a name cannot leave the place it is put in', () => {
  const html = uiElements(`a'"><b>`, `x'"</script>&amp;`, { address: '//here', basenames: ['entrypoint.js'] });
  expect(html).toBe(
    String.raw`<script src="//here/ui/a'%22%3E%3Cb%3E/entrypoint.js" onload='__LGUI_a____b_.render("x&#39;\"&lt;/script>&amp;amp;", "{{shadowRootId}}")'></script>`,
  );
});

it.each([
  [{ host: 'localhost:2024' }, 'http://localhost:2024'],
  [{ host: '127.0.0.1:2024', 'x-forwarded-prefix': '/agents' }, 'http://127.0.0.1:2024/agents'],
  [{ host: 'agents.example.com' }, 'http://agents.example.com'],
  [{ host: 'localhost.example.com', 'x-forwarded-proto': 'http' }, 'http://localhost.example.com'],
  [
    {
      host: 'inner:1',
      'x-forwarded-host': 'outer',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/deployments/d',
    },
    'https://outer/deployments/d',
  ],
])('pages with %j load from %s', (headers, address) => {
  expect(requestBaseUrl(headers)).toBe(address);
});
