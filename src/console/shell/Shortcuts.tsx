/** Keyboard shortcuts outside of input fields, and the dialog that lists them. */
import { Group, Modal, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { linkTo, useWorkspace } from "../parts/navigation/places.ts";

const KEYS: [keys: string, what: string][] = [
  ["Ctrl K", "Search for anything (⌘ K on a Mac)"],
  ["/", "Search in the page"],
  ["g h", "Go to Home"],
  ["g r", "Go to Runs"],
  ["Ctrl Enter", "Run with the values of the form"],
  ["?", "This list"],
];

/** Timeout of two-key sequences. */
const SEQUENCE_TIMEOUT_MS = 1_200;

let shown = false;
const listeners = new Set<() => void>();
function show(next: boolean): void {
  shown = next;
  for (const tell of listeners) tell();
}
export const showShortcuts = (): void => show(true);

function isWriting(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return element !== null && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));
}

export function Shortcuts() {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const first = useRef({ key: "", at: 0 });
  const opened = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const { key, at } = first.current;
      first.current = { key: event.key, at: event.timeStamp };
      if (event.key === "?") show(true);
      else if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main input[data-search]");
        if (!field) return;
        event.preventDefault();
        field.focus();
      } else if (key === "g" && event.timeStamp - at < SEQUENCE_TIMEOUT_MS) {
        if (event.key === "h") go(linkTo.home(workspace));
        if (event.key === "r") go(linkTo.runs(workspace));
      }
    }
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [workspace, go]);
  return (
    <Modal opened={opened} onClose={() => show(false)} title="Keyboard shortcuts">
      <Stack gap="xs">
        {KEYS.map(([keys, what]) => (
          <Group key={keys} justify="space-between">
            <Text>{what}</Text>
            <span>
              {keys.split(" ").map((key) => (
                <kbd key={key} className="key" style={{ marginLeft: 4 }}>
                  {key}
                </kbd>
              ))}
            </span>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
