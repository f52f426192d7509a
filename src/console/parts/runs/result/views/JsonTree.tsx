/** Lazily rendered JSON tree with paged children. */
import { useState } from "react";

const PAGE_SIZE = 100;
/** Longer strings are truncated until expanded. */
const MAX_STRING_LENGTH = 2_000;

type Container = Record<string, unknown> | unknown[];

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Summarises a collapsed node. */
function summary(value: Container): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.length} ]`;
  const names = Object.keys(value);
  return names.length === 0 ? "{}" : `{ ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""} }`;
}

function Leaf({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false);
  if (typeof value === "string") {
    const long = value.length > MAX_STRING_LENGTH && !whole;
    return (
      <>
        <span className="text">{JSON.stringify(long ? value.slice(0, MAX_STRING_LENGTH) : value)}</span>
        {long && (
          <button type="button" onClick={() => setWhole(true)}>
            … {value.length - MAX_STRING_LENGTH} more characters
          </button>
        )}
      </>
    );
  }
  if (typeof value === "number" || typeof value === "bigint")
    return <span className="number">{String(value)}</span>;
  return <span className="word">{String(value)}</span>;
}

function Node({ name, value }: { name: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const label = <span className="name">{name}: </span>;
  if (!isContainer(value)) {
    return (
      <li>
        {label}
        <Leaf value={value} />
      </li>
    );
  }
  if (Object.keys(value).length === 0) {
    return (
      <li>
        {label}
        {summary(value)}
      </li>
    );
  }
  return (
    <li>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden className="quiet">
          {open ? "▾ " : "▸ "}
        </span>
        {label}
        {!open && <span className="quiet">{summary(value)}</span>}
      </button>
      {open && <Children value={value} />}
    </li>
  );
}

function Children({ value }: { value: Container }) {
  const [shown, setShown] = useState(PAGE_SIZE);
  const names = Object.keys(value);
  if (names.length === 0) return summary(value);
  return (
    <ul>
      {names.slice(0, shown).map((key) => (
        <Node key={key} name={key} value={(value as Record<string, unknown>)[key]} />
      ))}
      {names.length > shown && (
        <li>
          <button type="button" className="quiet" onClick={() => setShown(shown + PAGE_SIZE)}>
            {names.length - shown} more: show the next {Math.min(PAGE_SIZE, names.length - shown)}
          </button>
        </li>
      )}
    </ul>
  );
}

export function JsonTree({ value }: { value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys
    <div className="tree" tabIndex={0} role="group" aria-label="JSON">
      {isContainer(value) ? <Children value={value} /> : <Leaf value={value} />}
    </div>
  );
}
