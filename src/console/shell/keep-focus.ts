/**
 * Keeps the focus in a page when the element that has it is removed: a row that was deleted, or the entry of a menu that
 * opened a dialog. Browsers would move it to the body, so that the next Tab begins at the top.
 */
const PAGE = "#root";
const DIALOG = "[role=dialog]";
const FOCUSABLE = "a[href], button, input, select, textarea, [tabindex='0']";
/** Until then, dialogs and pages have moved the focus themselves. */
const DELAY_MS = 60;

interface Step {
  element: Element;
  /** Its place among its siblings. */
  index: number;
}

/** The element that had the focus last, and its ancestors below the page or the dialog. */
type Trail = Step[];

const listFocusable = (within: Element): HTMLElement[] =>
  within.matches(FOCUSABLE)
    ? [within as HTMLElement]
    : [...within.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
        (element) => !element.matches(":disabled, [type=hidden]"),
      );

function traceTo(scope: Element, element: Element): Trail {
  const trail: Trail = [];
  for (let at: Element | null = element; at && at !== scope; at = at.parentElement) {
    trail.push({ element: at, index: [...(at.parentElement?.children ?? [])].indexOf(at) });
  }
  return trail;
}

/**
 * Returns what takes the place of a removed element: the same control of what follows it, else the nearest control.
 * Undefined if its whole page was replaced: the next page takes the focus itself.
 */
function findSuccessor(trail: Trail): HTMLElement | undefined {
  const first = trail.findIndex(({ element }) => element.isConnected);
  if (first === 0) return trail[0]!.element as HTMLElement;
  if (first < 0) return undefined;
  const removed = trail[first - 1]!;
  const { element: parent } = trail[first]!;
  if (!parent.parentElement?.closest(`main, ${DIALOG}`)) return undefined;
  const next = parent.children[removed.index] ?? parent.lastElementChild;
  const nth = listFocusable(removed.element).indexOf(trail[0]!.element as HTMLElement);
  const inNext = next ? listFocusable(next) : [];
  return inNext[nth] ?? inNext[0] ?? listFocusable(parent)[0];
}

/** Watches the focus of the document from now on. */
export function keepFocus(): void {
  const trails = new Map<string, Trail>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restore = () => {
    if (document.activeElement !== document.body) return;
    findSuccessor(trails.get(document.querySelector(DIALOG) ? DIALOG : PAGE) ?? [])?.focus();
  };
  document.addEventListener("focusin", ({ target }) => {
    for (const scope of [DIALOG, PAGE]) {
      const within = (target as Element).closest(scope);
      if (within) return void trails.set(scope, traceTo(within, target as Element));
    }
  });
  // Who clicks beside all controls wants none to have the focus.
  document.addEventListener("pointerdown", ({ target }) => {
    if ((target as Element).closest(PAGE)) trails.clear();
  });
  new MutationObserver(() => {
    if (document.activeElement !== document.body) return;
    clearTimeout(timer);
    timer = setTimeout(restore, DELAY_MS);
  }).observe(document.body, { childList: true, subtree: true });
}
