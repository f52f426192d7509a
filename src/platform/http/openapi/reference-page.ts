/**
 * The reference page: the OpenAPI description as one HTML page without external resources. Its only script filters
 * the operations while the user types; the page works without it.
 */
import { createHash } from "node:crypto";
import { escapeHtml } from "../../../lib/text/html.ts";
import { VERSION } from "../../../lib/version.ts";
import { type Operation, operation, responds } from "../operation.ts";
import type {
  ApiDescription,
  DescribedOperation,
  DescribedParameter,
  DescribedResponse,
  Tag,
} from "./description.ts";
import { type ApiTags, describeApi, requireDescriptionAccess } from "./openapi.ts";
import { renderSchema } from "./schema-notation.ts";

/** Creates the operation that renders the description of `all`. */
export function createReferenceOperation(all: () => readonly Operation[], nouns: ApiTags): Operation {
  let page: Promise<string> | undefined;
  return operation({
    name: "getReference",
    method: "GET",
    path: "/docs",
    access: "anyone",
    scope: false,
    summary: "Show the reference of this interface as a page",
    responds: responds.raw("text/html", "a page"),
    run: async (ctx) => {
      requireDescriptionAccess(ctx);
      page ??= describeApi(all(), nouns).then(renderReferencePage);
      return new Response(await page, { headers: HEADERS });
    },
  });
}

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 62rem; padding: 1rem }
nav { columns: 12rem; margin: 1rem 0 }
nav a { display: block }
h2 { margin-top: 2.5rem }
details { border-top: 1px solid #8884; padding: .3rem 0 }
summary { cursor: pointer }
summary code { font-weight: 600 }
summary span { opacity: .75 }
b.method { display: inline-block; width: 4.2rem; font: 600 .8rem monospace }
pre { background: #8881; overflow-x: auto; padding: .6rem }
table { border-collapse: collapse }
td { padding: .1rem .8rem .1rem 0; vertical-align: top }
details, p, h1 { overflow-wrap: anywhere }
details > table { display: block; overflow-x: auto }
input { box-sizing: border-box; font: inherit; padding: .4rem .6rem; width: 100% }
[hidden] { display: none }
`;

const SCRIPT = `
const field = document.querySelector("input");
field.parentElement.hidden = false;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const section of document.querySelectorAll("section")) {
    let found = 0;
    for (const each of section.querySelectorAll("details")) {
      const text = (each.id + " " + each.querySelector("summary").textContent).toLowerCase();
      each.hidden = !words.every((word) => text.includes(word));
      if (!each.hidden) found++;
    }
    section.hidden = words.length > 0 && found === 0;
  }
});
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
};

/** Tags that most readers need first, in that order; the other tags follow by name. */
const FIRST_TAGS = [
  "jobs",
  "scripts",
  "flows",
  "schedules",
  "http_triggers",
  "websocket_triggers",
  "webhooks",
  "variables",
  "resources",
  "workspaces",
  "folders",
  "users",
  "tokens",
  "groups",
  "audit",
];

function orderTags(tags: readonly Tag[]): Tag[] {
  const rank = ({ name }: Tag) => (FIRST_TAGS.includes(name) ? FIRST_TAGS.indexOf(name) : FIRST_TAGS.length);
  return [...tags].sort((a, b) => rank(a) - rank(b));
}

/** Escapes a text and renders parts in backticks as code. */
function renderText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Renders the whole page; all text from the description is escaped. */
function renderReferencePage(document: ApiDescription): string {
  const { info, paths, components } = document;
  const tags = orderTags(document.tags);
  const sections = tags.map((tag) => renderSection(tag, operationsOf(paths, tag.name))).join("\n");
  const names = tags.map(({ name }) => `<a href="#${name}">${escapeHtml(name)}</a>`).join("\n");
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3>
<pre>${renderSchema(schema)}</pre>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} ${escapeHtml(VERSION)}: the HTTP interface</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(info.title)}: the HTTP interface</h1>
<p>${renderText(info.description)} This is svc ${escapeHtml(VERSION)}. It implements version ${escapeHtml(info.version)}
of the interface that Windmill's clients use. For programs there is the <a href="openapi.yaml">OpenAPI document</a>.</p>
<p>Paths stand below <code>/api</code>. A token goes into the header <code>Authorization: Bearer …</code>.
Errors are text, and <a href="#schema-Problem">problem details</a> for clients that accept
<code>application/problem+json</code>; the header <code>svc-error</code> names them.</p>
<p hidden><input type="search" aria-label="Search operations" placeholder="Search operations, such as: run script" autofocus></p>
<nav>${names}<a href="#schemas">Schemas</a></nav>
${sections}
<h2 id="schemas">Schemas</h2>
${schemas.join("\n")}
<script>${SCRIPT}</script>
</body>
</html>
`;
}

interface RoutedOperation {
  method: string;
  path: string;
  op: DescribedOperation;
}

function operationsOf(paths: ApiDescription["paths"], tag: string): RoutedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, op]) => op.tags.includes(tag))
      .map(([method, op]) => ({ method: method.toUpperCase(), path, op })),
  );
}

function renderSection({ name, description }: Tag, operations: RoutedOperation[]): string {
  return `<section><h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>
<p>${renderText(description)}</p>
${operations.map(renderOperation).join("\n")}
</section>`;
}

function renderOperation({ method, path, op }: RoutedOperation): string {
  const parts = [
    `<p><code>${escapeHtml(op.operationId)}</code>, for ${ACCESS_LABELS[op["x-access"]] ?? op["x-access"]}</p>`,
  ];
  if (op.parameters.length > 0) parts.push(`<table>${op.parameters.map(renderParameter).join("")}</table>`);
  for (const [type, { schema }] of Object.entries(op.requestBody?.content ?? {})) {
    parts.push(`<p>Takes ${escapeHtml(type)}</p>\n<pre>${renderSchema(schema)}</pre>`);
  }
  parts.push(`<pre>${escapeHtml(formatCurl({ method, path, op }))}</pre>`);
  for (const [status, answer] of Object.entries(op.responses)) parts.push(renderResponse(status, answer));
  return `<details id="${escapeHtml(op.operationId)}">
<summary><b class="method">${method}</b> <code>${escapeHtml(path)}</code> <span>${renderText(op.summary)}</span></summary>
${parts.join("\n")}
</details>`;
}

/** Formats the call as a curl command, with its required parameters and placeholders in braces. */
function formatCurl({ method, path, op }: RoutedOperation): string {
  const query = op.parameters.filter((one) => one.in === "query" && one.required);
  const search = query.map(({ name }, index) => `${index === 0 ? "?" : "&"}${name}={${name}}`).join("");
  const words = [`curl${method === "GET" ? "" : ` -X ${method}`} "$SERVER/api${path}${search}"`];
  if (op["x-access"] !== "anyone") words.push(`-H "Authorization: Bearer $TOKEN"`);
  const [type] = Object.keys(op.requestBody?.content ?? {});
  if (type !== undefined) {
    const body = type === "application/json" ? "-d @body.json" : "--data-binary @body";
    words.push(`-H 'Content-Type: ${type}'`, body);
  }
  return words.join(" \\\n  ");
}

const ACCESS_LABELS: Record<string, string> = {
  anyone: "everybody",
  user: "everybody with a token",
  member: "members of the workspace",
  author: "members of the workspace who are not operators",
  admin: "admins of the workspace",
  devops: "super admins and devops",
  superAdmin: "super admins",
};

function renderParameter({
  name,
  in: place,
  required,
  schema,
  description = "",
}: DescribedParameter): string {
  const said = [description, required ? "" : "may be left out"].filter((text) => text !== "").join(" ");
  return `<tr><td><code>${escapeHtml(name)}</code><td>${place}<td><code>${renderSchema(schema)}</code><td>${renderText(said)}</tr>`;
}

/** Renders a success response. Error responses are the same everywhere and explained once at the top. */
function renderResponse(status: string, { description = "", content = {}, $ref }: DescribedResponse): string {
  if ($ref !== undefined) return "";
  const shapes = Object.entries(content).map(
    ([type, { schema }]) => `<p>${escapeHtml(type)}</p>\n<pre>${renderSchema(schema)}</pre>`,
  );
  return `<p>Answers ${status}: ${escapeHtml(description)}</p>\n${shapes.join("\n")}`;
}
