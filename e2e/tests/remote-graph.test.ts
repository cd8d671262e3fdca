import { Annotation, Command, END, Send, START, StateGraph } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { expect, inject, it } from 'vitest';

it('a deployed graph runs as a node of a local graph', async () => {
  const { deploymentUrl, apiKey } = inject('platform');
  const remote = new RemoteGraph({ graphId: 'family', url: deploymentUrl, apiKey });
  const State = Annotation.Root({ text: Annotation<string> });
  const local = new StateGraph(State)
    .addNode('ask', () => ({ text: 'hello' }))
    .addNode('remote', remote)
    .addEdge(START, 'ask')
    .addEdge('ask', 'remote')
    .addEdge('remote', END)
    .compile();
  expect(await local.invoke({ text: '' })).toEqual({ text: 'hello!' });
});

it('a command sends a node of a deployed graph an input of its own', async () => {
  const { deploymentUrl, apiKey } = inject('platform');
  const remote = new RemoteGraph({ graphId: 'family', url: deploymentUrl, apiKey });
  const command = new Command({ update: { text: 'there' }, goto: new Send('child', { text: 'sent' }) });
  expect(await remote.invoke(command)).toEqual({ text: 'sent!' });
});
