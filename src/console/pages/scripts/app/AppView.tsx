/** Renders an app as a page of texts, inputs, buttons and results. */
import { Button, Image, Tabs, Text, Title } from "@mantine/core";
import { type CSSProperties, useState } from "react";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";
import { HtmlFrame } from "../../../parts/runs/result/views/HtmlFrame.tsx";
import { CONTROLS, Control } from "./Controls.tsx";
import type { Scope } from "./evaluate.ts";
import { type AppComponent, BACKGROUND, findRunnable, isTable } from "./read-app.ts";
import { AppTable } from "./Table.tsx";
import { AppProvider, useApp, useOpenApp } from "./use-app.ts";
import { Failure, Note, useValue } from "./values.tsx";

const nothing = () => {};

interface Props {
  workspace: string;
  path: string;
  viewer: { email: string; username: string };
  components: AppComponent[];
}

export function AppView({ components, ...place }: Props) {
  const app = useOpenApp(place, components);
  return (
    <AppProvider value={app}>
      <Grid components={components} />
    </AppProvider>
  );
}

const Grid = ({ components }: { components: AppComponent[] }) => (
  <div className="app-grid">
    {components.map((component) => (
      <div key={component.id} style={{ "--columns": component.columns } as CSSProperties}>
        <Component component={component} />
      </div>
    ))}
  </div>
);

const RESULTS: ReadonlySet<string> = new Set(
  "display jobidlog jobidflowstatus joblog barchart piechart linechart scatterchart chartjs agcharts plotly timeseries vegalite map statcard".split(
    " ",
  ),
);
/** Kinds of components that are not rendered. */
const QUIET: ReadonlySet<string> = new Set([
  "recomputeall",
  "icon",
  "horizontaldivider",
  "verticaldivider",
  BACKGROUND,
]);

/** Titles of components without a title of their own. */
const NAMES: [kinds: RegExp, name: string][] = [
  [/chart|plotly|timeseries|vegalite/, "Chart"],
  [/log/, "Log"],
  [/^jobidflowstatus$/, "Steps"],
];
const nameOf = (kind: string): string => NAMES.find(([kinds]) => kinds.test(kind))?.[1] ?? "Result";

function Component({ component }: { component: AppComponent }) {
  const { kind, children } = component;
  if (children.length > 0) return <Container component={component} />;
  if (CONTROLS.has(kind)) return <Control component={component} />;
  if (isTable(component)) return <AppTable component={component} action={Action} />;
  if (RESULTS.has(kind)) return <Result component={component} />;
  if (QUIET.has(kind)) return null;
  switch (kind) {
    case "text":
      return <Words component={component} />;
    case "html":
      return <Page component={component} />;
    case "image":
      return <Picture component={component} />;
    case "button":
    case "form":
    case "formbutton":
      return <Action component={component} />;
    default:
      return (
        <Text c="dimmed" fz="sm">
          {component.id}: this page does not show components of the kind {kind || "without a name"}.
        </Text>
      );
  }
}

function Words({ component }: { component: AppComponent }) {
  const { outputs } = useApp();
  const { value, note } = useValue(component.input);
  const style = useValue(component.configuration.style).value;
  if (note) return <Note>{note}</Note>;
  const shown = findRunnable(component) ? outputs[component.id]?.result : value;
  const text =
    shown === undefined || shown === null
      ? ""
      : typeof shown === "object"
        ? JSON.stringify(shown)
        : String(shown);
  if (style === "Title") return <Title order={2}>{text}</Title>;
  if (style === "Subtitle") return <Title order={3}>{text}</Title>;
  return (
    <Text
      className="wrap"
      style={{ whiteSpace: "pre-wrap" }}
      {...(style === "Caption" ? { c: "dimmed", fz: "sm" } : {})}
    >
      {text}
    </Text>
  );
}

function Page({ component }: { component: AppComponent }) {
  const { outputs } = useApp();
  const { value, note } = useValue(component.input);
  if (note) return <Note>{note}</Note>;
  const html = findRunnable(component) ? outputs[component.id]?.result : value;
  return typeof html === "string" && html !== "" ? <HtmlFrame html={html} /> : null;
}

function Picture({ component: { configuration } }: { component: AppComponent }) {
  const { value, note } = useValue(configuration.source);
  const alt = useValue(configuration.altText).value;
  const kind = String(useValue(configuration.sourceKind).value ?? "url");
  if (note) return <Note>{note}</Note>;
  const type = /^(png|jpeg|svg)/.exec(kind)?.[1];
  // Images on other hosts would reveal the viewer to them.
  if (typeof value !== "string" || (!type && !value.startsWith("data:image/"))) {
    return value ? <Note>A picture of another address, which this page does not load.</Note> : null;
  }
  const source = type ? `data:image/${type === "svg" ? "svg+xml" : type};base64,${value}` : value;
  return <Image src={source} alt={typeof alt === "string" ? alt : ""} fit="contain" mah="30rem" />;
}

function Result({ component }: { component: AppComponent }) {
  const { workspace, outputs } = useApp();
  const { value, note } = useValue(component.input);
  const output = outputs[component.id];
  const title = useValue(component.configuration.title).value;
  const runs = findRunnable(component) !== undefined;
  if (note) return <Note>{note}</Note>;
  if (output?.error) return <Failure message={output.error} />;
  if (runs && (output === undefined || output.loading) && output?.result === undefined)
    return <Loading rows={2} />;
  return (
    <ResultPanel
      title={typeof title === "string" && title !== "" ? title : nameOf(component.kind)}
      workspace={workspace}
      value={runs ? output?.result : value}
    />
  );
}

interface ActionProps {
  component: AppComponent;
  /** Further values that its expressions can refer to. */
  names?: Scope;
}

function Action({ component, names }: ActionProps) {
  const { workspace, outputs, run } = useApp();
  const [typed, setTyped] = useState<Record<string, unknown>>({});
  const label = useValue(component.configuration.label, names).value;
  const runnable = findRunnable(component);
  const output = outputs[component.id];
  const asked = Object.entries(runnable?.fields ?? {}).filter(([, field]) => field.type === "user");
  const schema = runnable?.schema as
    | { properties?: Record<string, unknown>; required?: string[] }
    | undefined;
  const form = {
    type: "object",
    properties: Object.fromEntries(
      asked.map(([name]) => [name, schema?.properties?.[name] ?? { type: "string" }]),
    ),
    required: (schema?.required ?? []).filter((name) => asked.some(([each]) => each === name)),
  };
  const formId = `app-${component.id}`;
  const begin = () => void run(component, typed, names);
  const submit = () => {
    const element = document.querySelector<HTMLFormElement>(`form#${CSS.escape(formId)}`);
    if (element) element.requestSubmit();
    else begin();
  };
  return (
    <div className="stack">
      {asked.length > 0 && (
        <LazySchemaForm
          id={formId}
          schema={form}
          value={typed}
          change={setTyped}
          submit={begin}
          ready={nothing}
        />
      )}
      <Button w="fit-content" disabled={!runnable} loading={output?.loading === true} onClick={submit}>
        {typeof label === "string" && label !== "" ? label : "Run"}
      </Button>
      {output?.error && <Failure message={output.error} />}
      {output?.result !== undefined && output.result !== null && (
        <ResultPanel title="Result" workspace={workspace} value={output.result} />
      )}
    </div>
  );
}

function Container({ component: { children, kind } }: { component: AppComponent }) {
  const isTabs = (kind === "tabs" || kind === "stepper") && children.length > 1;
  if (!isTabs) {
    return (
      <div className="stack">
        {children.map(({ components }, index) => (
          <Grid key={index} components={components} />
        ))}
      </div>
    );
  }
  return (
    <Tabs defaultValue="0" keepMounted={false}>
      <Tabs.List mb="sm">
        {children.map(({ label }, index) => (
          <Tabs.Tab key={index} value={String(index)}>
            {label || index + 1}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {children.map(({ components }, index) => (
        <Tabs.Panel key={index} value={String(index)}>
          <Grid components={components} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
