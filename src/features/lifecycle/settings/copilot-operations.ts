/**
 * Operations on the AI provider for code completion: as the contract defines them, and as older and newer clients use
 * them.
 */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import {
  editSettings,
  readSettings,
  type WorkspaceSettingValues,
} from "../../tenancy/workspaces/settings.ts";
import { AiConfig, AiResource } from "../../tenancy/workspaces/settings-records.ts";
import { parsePathField, requireResource } from "./check-runnable.ts";

const base = "/w/{workspace}/workspaces" as const;
const text = responds.text("confirmation");
const settingAudit = (name: string) => ({ operation: `workspaces.${name}`, action_kind: "Update" }) as const;

const CopilotConfig = z
  .object({
    ai_resource: AiResource.nullish(),
    code_completion_enabled: z.boolean().nullish(),
    /** Sent by older clients, which support one provider only. */
    openai_resource_path: z.string().nullish(),
    ...AiConfig.partial().shape,
  })
  .refine(({ code_completion_enabled: said, providers }) => typeof said === "boolean" || providers, {
    path: ["code_completion_enabled"],
    error: "is missing: give true or false",
  });
type CopilotConfig = z.output<typeof CopilotConfig>;

/** Returns the resource of the default model's provider, or of the first provider. */
function findDefaultResource({ providers, default_model }: AiConfig): AiResource | undefined {
  const [first] = Object.keys(providers) as (keyof typeof providers)[];
  const provider = default_model?.provider ?? first;
  const found = provider && providers[provider];
  return found && { path: found.resource_path, provider };
}

const resourceField = ({ ai_resource }: CopilotConfig) =>
  ai_resource ? "ai_resource.path" : "openai_resource_path";

/** Returns the resource path for older clients; undefined if the provider is not OpenAI. */
export function findOpenaiPath({ ai_resource }: WorkspaceSettingValues): string | undefined {
  return ai_resource?.provider === "openai" ? ai_resource.path : undefined;
}

/** Returns the configuration for newer clients, converted from the older form if needed. */
export function toAiConfig({ ai_config, ai_resource }: WorkspaceSettingValues): AiConfig | undefined {
  if (ai_config || !ai_resource) return ai_config;
  return { providers: { [ai_resource.provider]: { resource_path: ai_resource.path, models: [] } } };
}

export const editCopilotConfig = operation({
  name: "editCopilotConfig",
  method: "POST",
  path: `${base}/edit_copilot_config`,
  access: "admin",
  summary: "Set the AI provider for code completion",
  body: CopilotConfig,
  responds: text,
  audit: settingAudit("edit_copilot_config"),
  run: async (ctx, { workspace, body }) => {
    const ai_config = body.providers ? AiConfig.parse(body) : undefined;
    const given = body.ai_resource ?? (ai_config && findDefaultResource(ai_config));
    const path = body.openai_resource_path || undefined;
    const ai_resource = given ?? (path === undefined ? undefined : { path, provider: "openai" as const });
    const code_completion_enabled = body.code_completion_enabled ?? Boolean(body.code_completion_model);
    // A client that sends all providers moves a workspace, whose resources may come later.
    for (const { resource_path } of Object.values(ai_config?.providers ?? {})) {
      parsePathField("providers", resource_path.replace(/^\$res:/, ""));
    }
    if (ai_resource && !ai_config) await requireResource(ctx, resourceField(body), ai_resource.path);
    const parameters = {
      ai_resource: ai_resource?.path ?? "",
      code_completion_enabled: String(code_completion_enabled),
    };
    await editSettings(ctx, { ai_resource, ai_config, code_completion_enabled }, parameters);
    return `copilot of workspace ${workspace} ${ai_resource ? `uses ${ai_resource.path}` : "removed"}`;
  },
});

export const getCopilotInfo = operation({
  name: "getCopilotInfo",
  method: "GET",
  path: `${base}/get_copilot_info`,
  access: "member",
  summary: "Read the AI provider for code completion",
  responds: responds.json(
    z.object({
      ai_provider: z.string(),
      exists_ai_resource: z.boolean(),
      code_completion_enabled: z.boolean(),
      /** Whether the provider is OpenAI, the only one that older clients know. */
      exists_openai_resource_path: z.boolean(),
      ...AiConfig.partial().shape,
    }),
  ),
  run: async (ctx, { workspace }) => {
    const settings = await readSettings(ctx.app.db.read, workspace);
    return {
      ai_provider: settings.ai_resource?.provider ?? "",
      exists_ai_resource: settings.ai_resource !== undefined,
      code_completion_enabled: settings.code_completion_enabled ?? false,
      exists_openai_resource_path: findOpenaiPath(settings) !== undefined,
      ...toAiConfig(settings),
    };
  },
});

export const copilotOperations: Operation[] = [editCopilotConfig, getCopilotInfo];
