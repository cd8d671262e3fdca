/** The example that everybody sees first, run as it is written. */
import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { executionRequest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';
import { temporaryProject } from '../test/temporary-project.ts';

it('hello-agent streams words, loops through tools, keeps notes and asks before it sends an email', async () => {
  const projectDir = await temporaryProject({});
  await cp(fileURLToPath(new URL('../../../examples/hello-agent', import.meta.url)), projectDir, {
    recursive: true,
    filter: (source) => !source.includes('node_modules'),
  });
  const environment = { WORD_DELAY_MS: '0' };
  const host = await startHost('', { configPath: `${projectDir}/langgraph.json`, environment });
  const backends = memoryBackends();
  const threadId = crypto.randomUUID();
  const say = async (content: string, streamModes: string[] = ['values']) =>
    runToEnd(
      host,
      executionRequest('agent', { threadId, streamModes, input: { messages: [{ role: 'user', content }] } }),
      backends,
    );
  const answer = ({ values }: { values: Record<string, unknown> | null }) =>
    (values!.messages as { content: string }[]).at(-1)?.content;

  const hello = await say('hello', ['messages-tuple']);
  const words = hello.events.map(({ data }) => (data as [{ content: string }])[0].content);
  expect(words.length).toBeGreaterThan(10);
  expect(words.join('')).toBe(answer(hello));

  expect(answer(await say('work out 6 * 7 and note it'))).toBe('That makes 42. Noted: 42');
  expect(answer(await say('show my notes'))).toBe('Your notes:\n- 42');
  expect(answer(await say('what time is it?'))).toMatch(/^It is 20\d\d-/);

  const asked = await say('email ada@example.com about lunch');
  expect(asked.values).toMatchObject({ __interrupt__: [{ value: { action: 'send_email', to: 'ada@example.com' } }] });
  const resume = { approved: true };
  const sent = await runToEnd(host, executionRequest('agent', { threadId, command: { resume } }), backends);
  expect(answer(sent)).toBe('The email "lunch" was sent to ada@example.com.');
  await host.close();
});
