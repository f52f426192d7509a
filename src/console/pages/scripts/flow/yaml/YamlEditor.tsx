/** Editor of a flow's YAML, with completion from its JSON Schema. Loaded lazily because of its size. */
import { autocompletion, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { EDITOR_THEME } from "../../../../parts/editor/editor-theme.ts";
import { findCursorPosition, type JsonSchema, listCompletions } from "./context.ts";
import type { TextProblem } from "./problems.ts";

interface Props {
  label: string;
  /** Initial text; a later value replaces the text. */
  value: string;
  change: (text: string) => void;
  problems: TextProblem[];
  schema: JsonSchema | undefined;
}

export default function YamlEditor({ label, value, change, problems, schema }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const known = useRef({ change, schema });
  known.current = { change, schema };
  /** Changes made by the page itself are not reported. */
  const isGiven = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; a later value is written into it below
  useEffect(() => {
    const editor = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EDITOR_THEME,
          lineNumbers(),
          yaml(),
          indentUnit.of("  "),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          highlightSelectionMatches(),
          bracketMatching(),
          history(),
          indentOnInput(),
          autocompletion({ override: [(context) => complete(context, known.current.schema)] }),
          highlightActiveLine(),
          lintGutter(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged && !isGiven.current) known.current.change(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    isGiven.current = true;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    isGiven.current = false;
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { length } = editor.state.doc;
    const found = problems.map(({ from, to, message, isRefused }) => ({
      from: Math.min(from, length),
      to: Math.min(to, length),
      message,
      severity: isRefused ? ("error" as const) : ("warning" as const),
    }));
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [problems]);

  return <div ref={box} className="editor" />;
}

function complete({ state, pos, explicit }: CompletionContext, schema: JsonSchema | undefined) {
  if (!schema) return null;
  const line = state.doc.lineAt(pos);
  const before = state.sliceDoc(line.from, pos);
  const word = /[\w$-]*$/.exec(before)![0];
  const place = findCursorPosition(state.doc.toString().split("\n"), line.number - 1, before);
  if (word === "" && !explicit && place.key === undefined) return null;
  const options = listCompletions(schema, place).map(({ label, detail }) => ({
    label,
    detail,
    apply: place.key === undefined ? `${label}: ` : label,
  }));
  return { from: pos - word.length, options, validFor: /^[\w$-]*$/ };
}
