import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { JsonEditorProps } from './json-editor.tsx';

interface ViewProps extends Pick<JsonEditorProps, 'value' | 'onChange' | 'onSubmit'> {
  labelledBy: string;
  describedBy: string;
  isInvalid: boolean;
}

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--color-card)', color: 'var(--color-text)', fontSize: '0.75rem' },
  '&.cm-focused': { outline: '2px solid var(--color-action)', outlineOffset: '2px' },
  '.cm-content': { fontFamily: 'var(--font-mono)', caretColor: 'var(--color-text)', minHeight: '5rem' },
  '.cm-scroller': { maxHeight: '60vh', overflow: 'auto', lineHeight: '1.5' },
  '.cm-tooltip': { backgroundColor: 'var(--color-raised)', border: '1px solid var(--color-line)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--color-fault)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--color-chosen)' },
});
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--color-action)' },
  { tag: tags.string, color: 'var(--color-good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--color-wait)' },
]);
const checkJson = jsonParseLinter();

/** The editor itself, which comes in a file of its own for the pages that use it. Tab leads out of it. */
export default function JsonEditorView({ labelledBy, describedBy, isInvalid, value, onChange, onSubmit }: ViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const newest = useRef({ onChange, onSubmit });
  newest.current = { onChange, onSubmit };
  const first = useRef(value);
  useEffect(() => {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
    const submit = () => {
      newest.current.onSubmit?.();
      return newest.current.onSubmit !== undefined;
    };
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: submit }])),
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          linter((editor) => (editor.state.doc.toString().trim() === '' ? [] : checkJson(editor))),
          bracketMatching(),
          indentOnInput(),
          EditorView.lineWrapping,
          syntaxHighlighting(colours),
          theme,
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) newest.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current!;
    const length = editor.state.doc.length;
    if (editor.state.doc.toString() !== value) editor.dispatch({ changes: { from: 0, to: length, insert: value } });
  }, [value]);
  useEffect(() => {
    const { contentDOM } = view.current!;
    contentDOM.setAttribute('aria-labelledby', labelledBy);
    contentDOM.setAttribute('aria-describedby', describedBy);
    contentDOM.setAttribute('aria-invalid', String(isInvalid));
  }, [labelledBy, describedBy, isInvalid]);
  return <div ref={place} className={`min-w-0 rounded border ${isInvalid ? 'border-fault' : 'border-edge'}`} />;
}
