import { Anchor, Title } from "@mantine/core";
import { Link } from "wouter";
import { Code } from "../../../parts/editor/lazy.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";

type Fields = Record<string, unknown>;

/** Details of a step: code or path, inputs and options. */
export function StepDetail({ workspace, step }: { workspace: string; step: Fields }) {
  const { id, summary, value, ...options } = step;
  const {
    type,
    content,
    path,
    input_transforms,
    modules: _modules,
    branches: _branches,
    default: _default,
    ...more
  } = value as Fields;
  const title = typeof summary === "string" && summary !== "" ? summary : String(id);
  const kind = type === "flow" ? "flow" : type === "script" ? "script" : undefined;
  const settings = { ...withoutEmpty(more), ...withoutEmpty(options) };
  return (
    <section className="stack" aria-label={`Step ${title}`}>
      <div>
        <Title order={2} className="wrap">
          {title}
        </Title>
        {kind && typeof path === "string" && (
          <Anchor
            component={Link}
            href={kind === "flow" ? linkTo.flow(workspace, path) : linkTo.script(workspace, path)}
            fz="sm"
          >
            {path}
          </Anchor>
        )}
      </div>
      {typeof content === "string" && (
        <Code label={`Code of ${String(id)}`} language={String(more.language ?? "")} value={content} />
      )}
      {hasFields(input_transforms) && (
        <ResultPanel title="Inputs" workspace={workspace} value={listInputs(input_transforms)} />
      )}
      {hasFields(settings) && <ResultPanel title="Options" workspace={workspace} value={settings} />}
    </section>
  );
}

const hasFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

const withoutEmpty = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** Returns the step's inputs: each a value or an expression. */
const listInputs = (transforms: Fields): Fields =>
  Object.fromEntries(
    Object.entries(transforms).map(([name, transform]) => {
      const { type, expr, value } = transform as Fields;
      return [name, type === "javascript" ? `= ${String(expr)}` : (value ?? null)];
    }),
  );
