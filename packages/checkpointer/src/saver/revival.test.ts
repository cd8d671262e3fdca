import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import { guardSerializer, type RevivableModules } from './revival.ts';

const payload = (id: string[], kwargs: object = {}) => ({ lc: 1, type: 'constructor', id, kwargs });

async function throughStorage(value: unknown, modules?: RevivableModules): Promise<unknown> {
  const serde = guardSerializer(new MemorySaver().serde, modules);
  const [type, data] = await serde.dumpsTyped(value);
  return serde.loadsTyped(type, data);
}

it('messages become messages again', async () => {
  const [human, ai] = (await throughStorage([new HumanMessage('hi'), new AIMessage('hello')])) as [unknown, AIMessage];
  expect(human).toBeInstanceOf(HumanMessage);
  expect(ai).toBeInstanceOf(AIMessage);
  expect(ai.content).toBe('hello');
});

it('a class that is not listed stays plain data, even inside a message', async () => {
  const prompt = ChatPromptTemplate.fromMessages([['human', 'hi {name}']]);
  const plain = JSON.parse(JSON.stringify(prompt));
  expect(await throughStorage({ prompt })).toEqual({ prompt: plain });
  const message = new AIMessage({ content: 'x', additional_kwargs: { prompt: plain } });
  const read = (await throughStorage({ message })) as { message: AIMessage };
  expect(read.message).toBeInstanceOf(AIMessage);
  expect(read.message.additional_kwargs).toEqual({ prompt: plain });
  // Stored once more, it is unchanged.
  expect(await throughStorage(await throughStorage({ prompt }))).toEqual({ prompt: plain });
});

it('a listed class is revived, and with `true` every class that can be', async () => {
  const prompt = ChatPromptTemplate.fromMessages([['human', 'hi {name}']]);
  expect(await throughStorage(prompt, [['langchain_core', 'prompts']])).toBeInstanceOf(ChatPromptTemplate);
  expect(await throughStorage(prompt, [['langchain_core', 'prompts', 'chat', 'AnotherTemplate']])).toEqual(
    JSON.parse(JSON.stringify(prompt)),
  );
  expect(await throughStorage(prompt, true)).toBeInstanceOf(ChatPromptTemplate);
});

it('values that clients write into state cannot make it unreadable', async () => {
  for (const value of [
    payload(['langchain_core', 'messages', 'NoSuchMessage']),
    payload(['langchain', 'llms', 'openai', 'OpenAI'], { apiKey: { lc: 1, type: 'secret', id: ['KEY'] } }),
    { lc: 1, type: 'secret', id: ['PATH'] },
    { lc: 1, type: 'not_implemented', id: ['a'] },
    { text: '"lc":1,"type":"constructor","id":["langchain_core","messages",', lc: 1 },
  ]) {
    expect(await throughStorage({ value, kept: new Set([1]) })).toEqual({ value, kept: new Set([1]) });
  }
});
