/** Lists the names that can be used in an expression, with their values and the fields of these, variables and resources. */
import { ActionIcon, Popover, ScrollArea, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconPlugConnected } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { callOperation } from "../../../../api/call.ts";
import { useEditorContext } from "../context.ts";
import { formatOneLine, type KnownName, listFields } from "../model/known.ts";

/** Maximum number of paths loaded, and shown before others are found by typing. */
const MAX_PATHS = 1_000;
const SHOWN_PATHS = 20;

interface Props {
  label: string;
  names: KnownName[];
  pick: (expression: string) => void;
}

export function NamePicker({ label, names, pick }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={380} trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant="default"
          size={32}
          aria-label={`Pick a value for ${label}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconPlugConnected size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <Names
          names={names}
          pick={(expression) => {
            pick(expression);
            setOpen(false);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function Names({ names, pick }: Omit<Props, "label">) {
  const [search, setSearch] = useState("");
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const { variables, resources } = usePaths();
  // Search includes nested fields.
  const known = useMemo(
    () => (search === "" ? names : names.flatMap((name) => [name, ...listFields(name, 4)])),
    [names, search],
  );
  const found = known.filter(({ expression, about }) => isFound(`${expression} ${about}`)).slice(0, 200);
  const paths = [
    { title: "Variables", of: "variable", all: variables },
    { title: "Resources", of: "resource", all: resources },
  ].map((each) => ({ ...each, found: each.all.filter((path) => isFound(`${each.of} ${path}`)) }));
  const isNone = found.length === 0 && paths.every((each) => each.found.length === 0);
  return (
    <>
      <TextInput
        size="xs"
        data-autofocus
        aria-label="Search values, variables and resources"
        placeholder="Search values, variables and resources"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <ScrollArea.Autosize mah="20rem" type="auto" mt="xs" viewportProps={{ tabIndex: -1 }}>
        {isNone && (
          <Text c="dimmed" fz="sm">
            {search ? "Nothing found." : "The flow has no inputs and no step before this one."}
          </Text>
        )}
        {found.map((name) => (
          <Row key={name.expression} name={name} pick={pick} depth={0} />
        ))}
        {paths.map(
          ({ title, of, found: shown }) =>
            shown.length > 0 && (
              <div key={of}>
                <Text fz="xs" c="dimmed" mt="xs" px={4}>
                  {title}
                </Text>
                {shown.slice(0, SHOWN_PATHS).map((path) => (
                  <UnstyledButton
                    key={path}
                    className="known-name mono"
                    onClick={() => pick(`${of}(${JSON.stringify(path)})`)}
                  >
                    {path}
                  </UnstyledButton>
                ))}
                {shown.length > SHOWN_PATHS && (
                  <Text fz="xs" c="dimmed" px={4}>
                    {shown.length - SHOWN_PATHS} more: type to find them.
                  </Text>
                )}
              </div>
            ),
        )}
      </ScrollArea.Autosize>
    </>
  );
}

/** Returns paths only; values are read by runs. */
function usePaths() {
  const { workspace } = useEditorContext();
  const variables = useQuery({
    queryKey: [workspace, "variables", "paths"],
    queryFn: async ({ signal }) => {
      const query = { per_page: MAX_PATHS };
      const found = await callOperation("GET /w/{workspace}/variables/list", { workspace, query }, signal);
      return found.map(({ path }) => path);
    },
  }).data;
  const resources = useQuery({
    queryKey: [workspace, "resources", "paths"],
    queryFn: async ({ signal }) => {
      const query = { per_page: MAX_PATHS };
      const found = await callOperation("GET /w/{workspace}/resources/list", { workspace, query }, signal);
      return found.map(({ path }) => path);
    },
  }).data;
  return { variables: variables ?? [], resources: resources ?? [] };
}

interface RowProps {
  name: KnownName;
  pick: (expression: string) => void;
  depth: number;
}

/** A name and, when expanded, the fields of its value. */
function Row({ name, pick, depth }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const { expression, about, value, hasValue } = name;
  const hasFields = hasValue && typeof value === "object" && value !== null && Object.keys(value).length > 0;
  return (
    <>
      <div className="known-row" style={{ paddingLeft: `${depth * 0.9}rem` }}>
        {hasFields ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="xs"
            aria-expanded={isOpen}
            aria-label={`Fields of ${expression}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          </ActionIcon>
        ) : (
          <span className="known-gap" />
        )}
        <UnstyledButton className="known-name" onClick={() => pick(expression)}>
          <span className="mono wrap">{expression}</span>
          <span className="quiet clip">{hasValue ? formatOneLine(value) : about}</span>
        </UnstyledButton>
      </div>
      {isOpen &&
        listFields(name).map((each) => (
          <Row key={each.expression} name={each} pick={pick} depth={depth + 1} />
        ))}
    </>
  );
}
