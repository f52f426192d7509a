/** Theme of the code editor, in the colours of the console. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { NONCE } from "../../api/base.ts";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-value)" },
  { tag: [tags.comment, tags.meta], color: "var(--quiet)", fontStyle: "italic" },
  {
    tag: [tags.typeName, tags.className, tags.definition(tags.function(tags.variableName))],
    color: "var(--code-name)",
  },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const frame = EditorView.theme({
  "&": { fontSize: "0.8125rem", backgroundColor: "var(--mantine-color-body)", color: "inherit" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--quiet)", border: "none" },
  ".cm-content": { caretColor: "var(--busy)" },
  ".cm-cursor": { borderLeftColor: "var(--busy)" },
  "&.cm-focused": { outline: "2px solid var(--busy)", outlineOffset: "-2px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#f1f4fb80, #222a3980)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "light-dark(#d5def7, #33436b) !important",
  },
  ".cm-collapsedLines": { background: "var(--sunk)", color: "var(--quiet)" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--sunk)",
    color: "inherit",
    border: "1px solid var(--line)",
  },
});

/** The page's content security policy allows only styles with its nonce. */
export const EDITOR_THEME: Extension = [EditorView.cspNonce.of(NONCE), frame, syntaxHighlighting(colours)];
