/** Shows the differences between two texts. Loaded lazily because of its size. */
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { EDITOR_THEME } from "./editor-theme.ts";
import { loadLanguage } from "./languages.ts";

interface Props {
  label: string;
  language: string;
  before: string;
  after: string;
}

export default function Difference({ label, language, before, after }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let editor: EditorView | undefined;
    let isLeft = false;
    void loadLanguage(language).then((mode) => {
      if (isLeft) return;
      editor = new EditorView({
        parent: box.current!,
        state: EditorState.create({
          doc: after,
          extensions: [
            EDITOR_THEME,
            mode,
            lineNumbers(),
            EditorState.readOnly.of(true),
            EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
            unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: {} }),
          ],
        }),
      });
    });
    return () => {
      isLeft = true;
      editor?.destroy();
    };
  }, [label, language, before, after]);
  return <div ref={box} className="editor" />;
}
