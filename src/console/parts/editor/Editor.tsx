/** Code editor. Loaded lazily because of its size. */
import {
  autocompletion,
  type Completion,
  type CompletionSource,
  closeBrackets,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { type RefObject, useEffect, useRef } from "react";
import { EDITOR_THEME } from "./editor-theme.ts";
import { loadLanguage } from "./languages.ts";

export interface CodeProblem {
  message: string;
  /** Counted from 1. */
  line?: number;
  column?: number;
}

interface Props {
  label: string;
  language: string;
  /** Initial text; a later value replaces the text. */
  value: string;
  change?: (text: string) => void;
  problem?: CodeProblem | undefined;
  /** Names offered for completion. */
  names?: Name[];
  /** For an expression: without line numbers, as high as its text. */
  isShort?: boolean;
  /** Called with a function that inserts text at the cursor. */
  tellInsert?: (insert: (text: string) => void) => void;
}

/** A name that can be completed, such as `results.a`. */
export interface Name {
  text: string;
  about: string;
}

/** Tab moves the focus on, so that keyboard users can leave the editor without pressing Escape first. */
export default function Editor(props: Props) {
  const { label, language, value, change, problem, isShort = false, tellInsert } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const mode = useRef(new Compartment());
  const named = useRef(new Compartment());
  const changed = useRef(change);
  changed.current = change;
  /** Changes made by the page itself are not reported. */
  const isGiven = useRef(false);
  const names = useRef<Name[]>(undefined);
  names.current = props.names;
  const isReadOnly = change === undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; a later value is written into it below
  useEffect(() => {
    const editor = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EDITOR_THEME,
          isShort ? EditorView.lineWrapping : lineNumbers(),
          mode.current.of([]),
          named.current.of(nameOf(label)),
          EditorState.readOnly.of(isReadOnly),
          highlightSelectionMatches(),
          bracketMatching(),
          keymap.of(searchKeymap),
          isReadOnly ? [] : [WRITING, isShort ? [] : lintGutter(), offer(names)],
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged && !isGiven.current) changed.current?.(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    tellInsert?.((text) => {
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    });
    return () => editor.destroy();
  }, [isReadOnly]);

  useEffect(() => {
    let isLeft = false;
    void loadLanguage(language).then((extension) => {
      if (!isLeft) view.current?.dispatch({ effects: mode.current.reconfigure(extension) });
    });
    return () => {
      isLeft = true;
    };
  }, [language]);

  useEffect(() => {
    view.current?.dispatch({ effects: named.current.reconfigure(nameOf(label)) });
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    isGiven.current = true;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    isGiven.current = false;
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, problem ? [diagnose(editor, problem)] : []));
  }, [problem]);

  return <div ref={box} className={isShort ? "editor editor-short" : "editor"} />;
}

const nameOf = (label: string) => EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" });

/** Offers the names that begin with the text before the cursor. */
function offer(names: RefObject<Name[] | undefined>) {
  const source: CompletionSource = (context) => {
    const before = context.matchBefore(/[\w$.]*/);
    if (!names.current || !before || (before.text === "" && !context.explicit)) return null;
    const options = names.current.map(({ text, about }): Completion => ({ label: text, detail: about }));
    return { from: before.from, options, validFor: /^[\w$.]*$/ };
  };
  return EditorState.languageData.of(() => [{ autocomplete: source }]);
}

/** These keys are left to the page; the editor itself would insert a line. */
const OF_THE_PAGE = ["Mod-Enter", "Mod-s"].map((key) => ({ key, run: () => true }));

const WRITING = [
  history(),
  indentOnInput(),
  closeBrackets(),
  autocompletion(),
  highlightActiveLine(),
  keymap.of([...OF_THE_PAGE, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
];

function diagnose({ state }: EditorView, { message, line = 1, column = 1 }: CodeProblem): Diagnostic {
  const at = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
  return { from, to: at.to, severity: "error", message };
}
