import { memo } from 'react';
import { JsonView } from './json-view.tsx';
import type { Message, ToolCall } from './messages-content.ts';

const WHO: Record<string, string> = { human: 'Human', ai: 'AI', tool: 'Tool', system: 'System' };

/** The messages of a thread in their order. Nothing that a project writes is shown as HTML. */
export function Messages({ messages }: { messages: readonly Message[] }) {
  return (
    <ol aria-label="Messages" className="flex min-w-0 flex-col gap-3">
      {messages.map((message) => (
        <MessageItem key={message.id} message={message} />
      ))}
    </ol>
  );
}

/** Messages that have not changed are not drawn again with each token. */
const MessageItem = memo(function MessageItem({ message }: { message: Message }) {
  const { type, name, text, reasoning, others, toolCalls } = message;
  if (type === 'tool') return <ToolResult message={message} />;
  const isHuman = type === 'human';
  return (
    <li className={`flex min-w-0 flex-col gap-1 ${isHuman ? 'items-end pl-8' : 'items-start pr-8'}`}>
      <span className="text-xs text-faint">
        {WHO[type] ?? type}
        {name && ` · ${name}`}
      </span>
      {reasoning !== '' && (
        <details className="max-w-full text-faint">
          <summary className="cursor-pointer text-xs">Reasoning</summary>
          <p className="mt-1 border-l-2 border-line pl-2 break-words whitespace-pre-wrap">{reasoning}</p>
        </details>
      )}
      {text !== '' && (
        <p
          className={`max-w-full rounded-lg border border-line px-3 py-2 break-words whitespace-pre-wrap ${isHuman ? 'bg-chosen' : 'bg-card'}`}
        >
          {text}
        </p>
      )}
      {others.length > 0 && (
        <div className="w-full max-w-full">
          <JsonView name="content" value={others} />
        </div>
      )}
      {toolCalls.map((call, index) => (
        <CallItem key={call.id ?? index} call={call} />
      ))}
    </li>
  );
});

function CallItem({ call: { name, args } }: { call: ToolCall }) {
  const isShort = typeof args === 'string' || JSON.stringify(args ?? {}).length <= 120;
  return (
    <div className="w-full max-w-full min-w-0 rounded border border-line bg-card px-3 py-2">
      <p className="text-xs text-faint">
        Calls <code className="font-semibold text-text">{name || '…'}</code>
      </p>
      {isShort ? (
        <code className="text-xs break-all">{typeof args === 'string' ? args : JSON.stringify(args)}</code>
      ) : (
        <JsonView name="arguments" value={args} />
      )}
    </div>
  );
}

function ToolResult({ message: { name, text, others, status } }: { message: Message }) {
  const hasFailed = status === 'error';
  return (
    <li className="min-w-0 pr-8">
      <details className="rounded border border-line bg-card px-3 py-2">
        <summary className="cursor-pointer text-xs text-faint">
          {hasFailed ? <span className="text-fault">Failed: </span> : 'Result of '}
          <code className="font-semibold text-text">{name ?? 'a tool'}</code>
          <span aria-hidden="true" className="ml-2 break-all">
            {text.slice(0, 80)}
            {text.length > 80 && '…'}
          </span>
        </summary>
        <ToolText text={text} />
        {others.length > 0 && <JsonView name="result" value={others} />}
      </details>
    </li>
  );
}

function ToolText({ text }: { text: string }) {
  if (/^\s*[{[]/.test(text)) {
    try {
      return <JsonView name="result" value={JSON.parse(text) as unknown} />;
    } catch {
      // It is a text that only looks like JSON.
    }
  }
  return <p className="mt-2 max-h-96 overflow-auto break-words whitespace-pre-wrap">{text}</p>;
}
