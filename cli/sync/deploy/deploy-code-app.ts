/** Deploys apps of code: their files, and the page built from them on this machine. */
import { createAppRaw, deleteApp, updateAppRaw } from "../../client/operations/code.ts";
import { createAppPolicy } from "../read/apps/code-app.ts";
import { normaliseFields } from "../read/canonical.ts";
import type { Fields, Item } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/** Builds an app of code and deploys it. @throws CliError if it cannot be built, or is rejected */
export async function deployCodeApp(at: Deployment, item: Item, before: Item | undefined): Promise<void> {
  const { client, workspace, message } = at;
  const { path } = item;
  const { policy, ...fields } = normaliseFields(item);
  const { js, css } = await item.build!();
  const was = (before?.fields.policy ?? {}) as Fields;
  const kept = was.execution_mode === "viewer" ? was : { ...was, execution_mode: "publisher" };
  const said = policy as Fields | undefined;
  const rights = Object.keys(said ?? {}).length > 0 ? { execution_mode: "publisher", ...said } : kept;
  const app = {
    summary: "",
    ...fields,
    path,
    policy: createAppPolicy(fields.value, rights),
    deployment_message: message,
  };
  const form = new FormData();
  form.append("app", JSON.stringify(app));
  form.append("js", js);
  form.append("css", css);
  const input = { workspace, path, form };
  await (before ? client.call(updateAppRaw, input as never) : client.call(createAppRaw, input as never));
}

export async function deleteRemoteApp({ client, workspace }: Deployment, path: string): Promise<void> {
  await client.call(deleteApp, { workspace, path });
}
