/** The page on which a person approves or refuses: plain HTML, no script, nothing from elsewhere. */
import { escapeHtml } from "../../../lib/text/html.ts";
import { html } from "../../../lib/text/html-page.ts";
import type { Field } from "./form.ts";
import { inputName } from "./form.ts";

export interface ApprovalPage {
  /** What to call the flow. */
  flow: string;
  step: string;
  started_by: string;
  started_at: Date;
  /** Names of those who have approved so far, and how many it takes where that is known. */
  approvers: string[];
  required: number;
  /** What the step wants to show: JSON. */
  description: unknown;
  fields: Field[];
  hide_cancel: boolean;
  /** Why there is nothing to answer, or not by this caller. */
  refusal: string | undefined;
}

export function approvalPage(page: ApprovalPage): Response {
  const { flow, step, started_by, started_at, approvers, required, refusal } = page;
  const given = approvers.length > 0 ? `<p>Approved so far by ${escapeHtml(approvers.join(", "))}.</p>` : "";
  const takes = required > 1 ? `<p>It takes ${required} approvals.</p>` : "";
  const when = started_at.toISOString().slice(0, 16).replace("T", " ");
  return html(
    200,
    `Approve ${flow}`,
    `<p>Step <b>${escapeHtml(step)}</b> asks for approval. ${escapeHtml(started_by)} started the flow at ${when} UTC.</p>
${shown(page.description)}${takes}${given}${refusal === undefined ? form(page) : `<p>${escapeHtml(refusal)}</p>`}`,
  );
}

function shown(description: unknown): string {
  if (description === undefined || description === null) return "";
  const text = typeof description === "string" ? description : JSON.stringify(description, null, 2);
  return `<pre>${escapeHtml(text)}</pre>\n`;
}

/** It goes to where the page stands; a refusal needs no field filled in. */
function form({ fields, hide_cancel }: ApprovalPage): string {
  const reject = `\n<button name="answer" value="reject" formnovalidate>Reject</button>`;
  return `<form method="post">
${fields.map(control).join("\n")}
<button name="answer" value="approve">Approve</button>${hide_cancel ? "" : reject}
</form>`;
}

function control(field: Field): string {
  const { label, description, required } = field;
  const about = description === undefined ? "" : `<small>${escapeHtml(description)}</small>`;
  const mark = required && field.kind !== "boolean" ? " *" : "";
  return `<label>${escapeHtml(label)}${mark}${about} ${input(field)}</label>`;
}

function input(field: Field): string {
  const name = `name="${escapeHtml(inputName(field))}"`;
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
      return `<select ${name}${required}>${choices(field)}</select>`;
    case "json": {
      const text = preset === undefined ? "" : JSON.stringify(preset, null, 2);
      // A line break right after the tag is no part of the text.
      return `<textarea ${name} rows="5"${required}>\n${escapeHtml(text)}</textarea>`;
    }
    case "text":
      return `<input ${name} value="${escapeHtml(typeof preset === "string" ? preset : "")}"${required}>`;
  }
}

function choices({ options, default: preset }: Field): string {
  const each = options.map((option, index) => {
    const text = typeof option === "string" ? option : JSON.stringify(option);
    return `<option value="${index}"${option === preset ? " selected" : ""}>${escapeHtml(text)}</option>`;
  });
  return `<option value=""></option>${each.join("")}`;
}
