import { Checkbox, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { WebsocketTrigger } from "../../../api/interface.d.ts";
import { parseJson, writeJson } from "../../../api/json.ts";
import { RunnableInput } from "../../../parts/form/RunnableInput.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { FormFooter, getInitialRunnable, useNaming } from "../form-parts.tsx";
import { RetryInput, readRetry } from "../RetryInput.tsx";
import type { TriggerFormProps } from "../TriggerEditPage.tsx";
import { MessagesInput, toMessages, toRows } from "./MessagesInput.tsx";
import { useSaveSocket } from "./queries.ts";

type Filter = WebsocketTrigger["filters"][number];

/** Parses lines `key = value`; a value is JSON, or else text. */
function parseFilters(text: string): Filter[] | string {
  const filters: Filter[] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const at = line.indexOf("=");
    if (at <= 0) return `Write a field, = and its value: ${line.trim()}`;
    const value = line.slice(at + 1).trim();
    filters.push({ key: line.slice(0, at).trim(), value: parsed(value) });
  }
  return filters;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

export function SocketForm({
  workspace,
  existing,
  initial,
  path: firstPath,
}: TriggerFormProps<WebsocketTrigger>) {
  const name = useNaming(firstPath, existing);
  const [of, setOf] = useState(getInitialRunnable(existing, initial));
  const [url, setUrl] = useState(existing?.url ?? "");
  const [filterText, setFilterText] = useState(
    (existing?.filters ?? []).map(({ key, value }) => `${key} = ${writeJson(value)}`).join("\n"),
  );
  const messages = existing?.initial_messages ?? [];
  const [rows, setRows] = useState(() => toRows(messages));
  const [answers, setAnswers] = useState(existing?.can_return_message ?? false);
  const [answersErrors, setAnswersErrors] = useState(existing?.can_return_error_result ?? false);
  const [retry, setRetry] = useState(readRetry(existing));
  const filters = parseFilters(filterText);
  const save = useSaveSocket(workspace, existing?.path);
  const isComplete = of !== undefined && name.isNamed && url.trim() !== "" && typeof filters !== "string";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    save.mutate({
      path: name.naming.path,
      summary: name.naming.summary,
      script_path: of.path,
      is_flow: of.kind === "flow",
      url: url.trim(),
      url_runnable_args: existing?.url_runnable_args ?? null,
      retry,
      filters,
      initial_messages: toMessages(rows, messages),
      can_return_message: answers,
      can_return_error_result: answers && answersErrors,
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <RunnableInput workspace={workspace} label="What it runs" value={of} change={setOf} />
        <TextInput
          required
          label="Address"
          description="URL of the service that sends messages. Each message becomes the argument msg."
          className="mono-input"
          placeholder="wss://feed.example.org"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Textarea
          label="Only messages with"
          description="One condition per line: a field of the JSON message, = and its value. Empty: every message."
          className="mono-input"
          placeholder={'type = "price"'}
          autosize
          minRows={2}
          error={typeof filters === "string" ? filters : undefined}
          value={filterText}
          onChange={(event) => setFilterText(event.currentTarget.value)}
        />
        <MessagesInput value={rows} change={setRows} />
        <Checkbox
          label="Send the results back"
          checked={answers}
          onChange={(event) => setAnswers(event.currentTarget.checked)}
        />
        {answers && (
          <Checkbox
            label="Include errors of failed runs"
            checked={answersErrors}
            onChange={(event) => setAnswersErrors(event.currentTarget.checked)}
          />
        )}
        {of?.kind === "script" && <RetryInput value={retry} change={setRetry} />}
        {name.pathField}
        {name.summaryField}
        <FormFooter
          save={save}
          values={[name.naming, of, url, filterText, rows, answers, answersErrors, retry]}
          isComplete={isComplete}
          label={existing ? "Save" : "Create the trigger"}
          leave={existing ? linkTo.socket(workspace, existing.path) : linkTo.sockets(workspace)}
        />
      </Stack>
    </form>
  );
}
