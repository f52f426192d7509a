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
import { type RefObject, useEffect, useRef, useState } from "react";
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

/**
 * Tab moves the focus on, so that keyboard users can leave the editor without pressing Escape first. The editor is made
 * when the browser is idle, because that takes longer than a frame: who moves from step to step does not wait for it.
 */
export default function Editor(props: Props) {
  const { label, language, value, change, problem, isShort = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<EditorView>();
  const mode = useRef(new Compartment());
  const named = useRef(new Compartment());
  /** The values of the last rendering, for functions that are made once. */
  const latest = useRef(props);
  latest.current = props;
  const shownLabel = useRef("");
  const hasDiagnostic = useRef(false);
  /** Changes made by the page itself are not reported. */
  const isGiven = useRef(false);
  const isReadOnly = change === undefined;

  useEffect(() => {
    let editor: EditorView | undefined;
    const cancel = whenIdle(() => {
      const made = new EditorView({
        parent: box.current!,
        state: EditorState.create({
          doc: latest.current.value,
          extensions: [
            EDITOR_THEME,
            isShort ? EditorView.lineWrapping : lineNumbers(),
            mode.current.of([]),
            named.current.of(nameOf(latest.current.label)),
            EditorState.readOnly.of(isReadOnly),
            highlightSelectionMatches(),
            bracketMatching(),
            keymap.of(searchKeymap),
            isReadOnly ? [] : [WRITING, isShort ? [] : lintGutter(), offer(latest)],
            EditorView.updateListener.of(({ docChanged, state }) => {
              if (docChanged && !isGiven.current) latest.current.change?.(state.doc.toString());
            }),
          ],
        }),
      });
      editor = made;
      shownLabel.current = latest.current.label;
      hasDiagnostic.current = false;
      latest.current.tellInsert?.((text) => {
        made.dispatch(made.state.replaceSelection(text));
        made.focus();
      });
      setView(made);
    });
    return () => {
      cancel();
      editor?.destroy();
    };
  }, [isReadOnly, isShort]);

  useEffect(() => {
    let isLeft = false;
    void loadLanguage(language).then((extension) => {
      if (!isLeft) view?.dispatch({ effects: mode.current.reconfigure(extension) });
    });
    return () => {
      isLeft = true;
    };
  }, [view, language]);

  useEffect(() => {
    if (!view || shownLabel.current === label) return;
    shownLabel.current = label;
    view.dispatch({ effects: named.current.reconfigure(nameOf(label)) });
  }, [view, label]);

  useEffect(() => {
    if (!view || view.state.doc.toString() === value) return;
    isGiven.current = true;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    isGiven.current = false;
  }, [view, value]);

  useEffect(() => {
    if (!view || (!problem && !hasDiagnostic.current)) return;
    hasDiagnostic.current = problem !== undefined;
    view.dispatch(setDiagnostics(view.state, problem ? [diagnose(view, problem)] : []));
  }, [view, problem]);

  return <div ref={box} className={isShort ? "editor editor-short" : "editor"} />;
}

/** Calls a function when the browser has nothing else to do, at the latest after this time. */
const IDLE_TIMEOUT_MS = 200;

/** Calls a function when the browser is idle. @returns a function that cancels the call */
function whenIdle(act: () => void): () => void {
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(act);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(act, { timeout: IDLE_TIMEOUT_MS });
  return () => cancelIdleCallback(idle);
}

const nameOf = (label: string) => EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" });

/** Offers the names that begin with the text before the cursor. */
function offer(props: RefObject<Pick<Props, "names">>) {
  const source: CompletionSource = (context) => {
    const before = context.matchBefore(/[\w$.]*/);
    const { names } = props.current;
    if (!names || !before || (before.text === "" && !context.explicit)) return null;
    const options = names.map(({ text, about }): Completion => ({ label: text, detail: about }));
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
