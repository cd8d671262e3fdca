import { useStream } from '@langchain/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

const { apiUrl, apiKey } = JSON.parse(document.querySelector('#settings').textContent);
const asked = new URLSearchParams(location.search);

/** A conversation as the documentation of `useStream` builds it: the address of the page has the thread. */
function Conversation({ assistantId }) {
  const [threadId, setThreadId] = useState(asked.get('thread'));
  const { messages, toolCalls, values, interrupt, error, isLoading, submit, respond, stop } = useStream({
    apiUrl,
    apiKey,
    assistantId,
    threadId,
    onThreadId(id) {
      history.replaceState(null, '', `?${new URLSearchParams({ assistant: assistantId, thread: id })}`);
      setThreadId(id);
    },
  });
  const { messages: _, ...state } = values;
  return (
    <main aria-busy={isLoading}>
      <ol>
        {messages.map(({ id, type, text }) => (
          <li key={id}>{`${type}: ${text}`}</li>
        ))}
      </ol>
      <ul>
        {toolCalls.map(({ id, name, input, output, status }) => (
          <li key={id}>{`${name}(${JSON.stringify(input)}) ${status}: ${JSON.stringify(output)}`}</li>
        ))}
      </ul>
      <output aria-label="State">{JSON.stringify(state)}</output>
      {interrupt && (
        // Without its id the hook answers only what it has heard of since the page was loaded.
        <Field label={interrupt.value.question} onEntered={(text) => respond(text, { interruptId: interrupt.id })} />
      )}
      {error && <p role="alert">{String(error.message ?? error)}</p>}
      <button type="button" onClick={() => stop()}>
        Stop
      </button>
      <Field label="Message" onEntered={(text) => submit({ messages: [{ type: 'human', content: text }] })} />
    </main>
  );
}

function Field({ label, onEntered }) {
  const enter = (event) => {
    event.preventDefault();
    onEntered(event.target.elements.text.value);
    event.target.reset();
  };
  return (
    <form onSubmit={enter}>
      <label>
        {label}
        <input name="text" autoComplete="off" />
      </label>
    </form>
  );
}

createRoot(document.querySelector('#root')).render(
  <StrictMode>
    <Conversation assistantId={asked.get('assistant')} />
  </StrictMode>,
);
