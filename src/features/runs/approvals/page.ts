/** Renders the approval page: plain HTML without scripts and external resources. */
import { isJsonObject } from "../../../lib/json/json.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { renderPage } from "../../../lib/text/html-page.ts";
import type { FormField } from "./form.ts";
import { formatInputName } from "./form.ts";

export interface ApprovalPage {
  /** Display name of the flow. */
  flow: string;
  /** Summary of the flow, if it has one. */
  summary: string;
  step: string;
  started_by: string;
  started_at: Date;
  /** Names of those who have approved so far. */
  approvers: string[];
  required: number;
  /** JSON that the step wants to show: its description, else its result. */
  description: unknown;
  /** Arguments of the flow. */
  input: Record<string, unknown>;
  fields: FormField[];
  /** JSON that the link answers with, besides the form. */
  answer: unknown;
  hide_cancel: boolean;
  /** Why it cannot be answered, or not by this caller. */
  refusal: string | undefined;
}

export function renderApprovalPage(page: ApprovalPage): Response {
  const { flow, step, started_by, started_at, approvers, required, refusal } = page;
  const given = approvers.length > 0 ? `<p>Approved so far by ${escapeHtml(approvers.join(", "))}.</p>` : "";
  const takes = required > 1 ? `<p>It takes ${required} approvals.</p>` : "";
  const when = started_at.toISOString().slice(0, 16).replace("T", " ");
  return renderPage(
    200,
    `Approve ${flow}`,
    `${page.summary === "" ? "" : `<p><b>${escapeHtml(page.summary)}</b></p>\n`}<p>Step <b>${escapeHtml(step)}</b> asks for approval. ${escapeHtml(started_by)} started the flow at ${when} UTC.</p>
${renderValue(page.description)}${renderSection("Input of the flow", page.input)}${renderSection("Answer of this link", page.answer)}${takes}${given}${refusal === undefined ? renderForm(page) : `<p>${escapeHtml(refusal)}</p>`}`,
  );
}

/** Renders an object as a list of its fields, a text as it is, anything else as JSON. */
function renderValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (!isJsonObject(value)) return `<pre>${escapeHtml(formatValue(value))}</pre>\n`;
  const fields = Object.entries(value).map(
    ([name, each]) => `<dt>${escapeHtml(name)}</dt><dd>${renderField(each)}</dd>`,
  );
  return fields.length === 0 ? "" : `<dl>${fields.join("\n")}</dl>\n`;
}

function renderField(value: unknown): string {
  const text = escapeHtml(formatValue(value));
  return typeof value === "object" && value !== null ? `<pre>${text}</pre>` : text;
}

function renderSection(title: string, value: unknown): string {
  const list = renderValue(value);
  return list === "" ? "" : `<h2>${title}</h2>\n${list}`;
}

/** Formats a value; ciphertexts of secret arguments are hidden. */
function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return text.replace(/\$encrypted:[^"\s]*/g, "(secret)");
}

/** Renders the form, which posts to its own URL. Rejecting skips the validation of required fields. */
function renderForm({ fields, hide_cancel }: ApprovalPage): string {
  const reject = `\n<button name="answer" value="reject" formnovalidate>Reject</button>`;
  return `<form method="post">
${fields.map(renderFormField).join("\n")}
<button name="answer" value="approve">Approve</button>${hide_cancel ? "" : reject}
</form>`;
}

function renderFormField(field: FormField): string {
  const { label, description, required } = field;
  const about = description === undefined ? "" : `<small>${escapeHtml(description)}</small>`;
  if (field.kind === "boolean") {
    return `<label class="check">${renderInput(field)} ${escapeHtml(label)}${about}</label>`;
  }
  const mark = required ? " *" : "";
  return `<label>${escapeHtml(label)}${mark}${about} ${renderInput(field)}</label>`;
}

function renderInput(field: FormField): string {
  const name = `name="${escapeHtml(formatInputName(field))}"`;
  const required = field.required ? " required" : "";
  const preset = field.default;
  switch (field.kind) {
    case "boolean":
      return `<input type="checkbox" ${name}${preset === true ? " checked" : ""}>`;
    case "number": {
      const value = typeof preset === "number" ? ` value="${preset}"` : "";
      return `<input type="number" step="${field.whole ? "1" : "any"}" ${name}${value}${required}>`;
    }
    case "choice":
      return `<select ${name}${required}>${renderOptions(field)}</select>`;
    case "json": {
      const text = preset === undefined ? "" : JSON.stringify(preset, null, 2);
      // HTML ignores a line break right after the tag.
      return `<textarea ${name} rows="5"${required}>\n${escapeHtml(text)}</textarea>`;
    }
    case "text":
      return `<input ${name} value="${escapeHtml(typeof preset === "string" ? preset : "")}"${required}>`;
  }
}

function renderOptions({ options, default: preset }: FormField): string {
  const each = options.map((option, index) => {
    const text = typeof option === "string" ? option : JSON.stringify(option);
    return `<option value="${index}"${option === preset ? " selected" : ""}>${escapeHtml(text)}</option>`;
  });
  return `<option value=""></option>${each.join("")}`;
}
