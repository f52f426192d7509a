import { ActionIcon, Button, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconDownload, IconSearch } from "@tabler/icons-react";
import {
  type ReactNode,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { splitByStyle } from "./ansi.ts";
import type { LogBuffer } from "./buffer.ts";

const LINE_PX = 20;
/** Lines rendered beyond the viewport. */
const OVERSCAN_LINES = 20;
/** Below the maximum element height of browsers. */
const MAX_HEIGHT_PX = 15_000_000;

interface Props {
  title?: string;
  buffer: LogBuffer;
  /** The job is still running. */
  live: boolean;
  /** URL of the complete log. */
  href: string;
}

/** Virtualised log viewer with search. Follows the end until the user scrolls up. */
export function Log({ title = "Log", buffer, live, href }: Props) {
  const version = useSyncExternalStore(buffer.subscribe, buffer.version);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [follow, setFollow] = useState(live);
  const [text, setText] = useState("");
  const [hit, setHit] = useState(0);
  const wanted = useDeferredValue(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is found follows from the lines too
  const hits = useMemo(() => (wanted === "" ? [] : buffer.find(wanted)), [buffer, wanted, version]);
  const { length } = buffer;
  const height = Math.min(length * LINE_PX, MAX_HEIGHT_PX);
  // Above the maximum height one scrollbar pixel represents several pixels of the log.
  const scale = length * LINE_PX <= MAX_HEIGHT_PX ? 1 : (length * LINE_PX) / MAX_HEIGHT_PX;
  const seen = Math.ceil((box.current?.clientHeight ?? 400) / LINE_PX);
  const at = Math.max(0, Math.min(Math.floor((top * scale) / LINE_PX), length - seen));
  const from = Math.max(0, at - OVERSCAN_LINES);
  const until = Math.min(length, at + seen + OVERSCAN_LINES);
  const current = hits[Math.min(hit, hits.length - 1)];

  // biome-ignore lint/correctness/useExhaustiveDependencies: follows what comes
  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, version]);
  useEffect(() => {
    if (current === undefined || !box.current) return;
    setFollow(false);
    box.current.scrollTop = ((current - Math.floor(seen / 2)) * LINE_PX) / scale;
  }, [current, scale, seen]);

  const step = (by: number) => hits.length > 0 && setHit((hit + by + hits.length) % hits.length);
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <Title order={2}>{title}</Title>
        <TextInput
          size="xs"
          aria-label="Search the log"
          placeholder="Search the log"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setHit(0);
          }}
          onKeyDown={(event) => event.key === "Enter" && step(event.shiftKey ? -1 : 1)}
        />
        {text !== "" && (
          <>
            <Text fz="xs" c="dimmed" role="status">
              {hits.length === 0
                ? "nothing found"
                : `${Math.min(hit, hits.length - 1) + 1} of ${hits.length}`}
            </Text>
            <ActionIcon variant="subtle" color="gray" aria-label="Previous match" onClick={() => step(-1)}>
              <IconArrowUp size={16} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="gray" aria-label="Next match" onClick={() => step(1)}>
              <IconArrowDown size={16} />
            </ActionIcon>
          </>
        )}
        <Tooltip label="Save the whole log">
          <ActionIcon
            component="a"
            href={href}
            download
            variant="subtle"
            color="gray"
            aria-label="Save the whole log"
          >
            <IconDownload size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      {buffer.dropped > 0 && (
        <Text fz="xs" c="dimmed" px="md" py={4}>
          The first {buffer.dropped} lines are not shown here; the saved file contains them.
        </Text>
      )}
      {length === 0 ? (
        <Text c="dimmed" p="md">
          {live ? "No log yet." : "The log is empty."}
        </Text>
      ) : (
        <div style={{ position: "relative" }}>
          <div
            ref={box}
            className="log"
            style={{ height: Math.min(Math.max(height + 14, 80), 520) }}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys
            tabIndex={0}
            role="log"
            aria-label={title === "Log" ? "Lines of the log" : `Lines of the ${title.toLowerCase()}`}
            aria-live="off"
            onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
              setTop(scrollTop);
              setFollow(scrollHeight - scrollTop - clientHeight < LINE_PX * 2);
            }}
          >
            <div style={{ height }} />
            <div
              className="log-lines"
              style={{ top: scale === 1 ? from * LINE_PX : Math.max(0, top - OVERSCAN_LINES * LINE_PX) }}
            >
              {Array.from({ length: until - from }, (_, offset) => {
                const index = from + offset;
                return (
                  <div
                    key={index}
                    className="log-line"
                    {...(index === current ? { "data-current": true } : {})}
                  >
                    <span className="log-number">{index + buffer.dropped + 1}</span>
                    <span>{line(buffer.line(index), wanted)}</span>
                  </div>
                );
              })}
            </div>
          </div>
          {live && !follow && (
            <Button
              size="xs"
              radius="xl"
              leftSection={<IconArrowDown size={14} />}
              style={{ position: "absolute", right: 20, bottom: 14 }}
              onClick={() => setFollow(true)}
            >
              Follow
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

/** Longer lines are truncated. */
const MAX_LINE_LENGTH = 10_000;

function line(text: string, wanted: string): ReactNode {
  const pieces = splitByStyle(text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text);
  return pieces.map(({ text, classes }, index) => (
    <span key={index} className={classes}>
      {wanted === "" ? text : marked(text, wanted)}
    </span>
  ));
}

function marked(text: string, wanted: string): ReactNode {
  const parts: ReactNode[] = [];
  const lower = text.toLowerCase();
  const needle = wanted.toLowerCase();
  let at = 0;
  for (let found = lower.indexOf(needle); found >= 0; found = lower.indexOf(needle, at)) {
    parts.push(text.slice(at, found), <mark key={found}>{text.slice(found, found + needle.length)}</mark>);
    at = found + needle.length;
  }
  parts.push(text.slice(at));
  return parts;
}
