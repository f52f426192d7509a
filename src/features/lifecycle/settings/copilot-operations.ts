/** Which AI provider helps to write code: as the contract has it, and as clients before and after it settle it. */
import { z } from "zod";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { editSettings, readSettings, type Settings } from "../../tenancy/workspaces/settings.ts";
import { AiConfig, AiResource } from "../../tenancy/workspaces/settings-records.ts";
import { requireResource } from "./check-runnable.ts";

const base = "/w/{workspace}/workspaces" as const;
const text = responds.text("confirmation");
const edits = (name: string) => ({ operation: `workspaces.${name}`, action_kind: "Update" }) as const;

const CopilotConfig = z
  .object({
    ai_resource: AiResource.nullish(),
    code_completion_enabled: z.boolean().nullish(),
    /** Of older clients: the resource of the one provider that they know. */
    openai_resource_path: z.string().nullish(),
    ...AiConfig.partial().shape,
  })
  .refine(({ code_completion_enabled: said, providers }) => typeof said === "boolean" || providers, {
    path: ["code_completion_enabled"],
    error: "is missing: give true or false",
  });
type CopilotConfig = z.output<typeof CopilotConfig>;

/** The provider of the default model, or the first that is named. */
function defaultOf({ providers, default_model }: AiConfig): AiResource | undefined {
  const [first] = Object.keys(providers) as (keyof typeof providers)[];
  const provider = default_model?.provider ?? first;
  const found = provider && providers[provider];
  return found && { path: found.resource_path, provider };
}

const fieldOf = ({ ai_resource, providers }: CopilotConfig) =>
  ai_resource ? "ai_resource.path" : providers ? "providers" : "openai_resource_path";

/** The resource that older clients ask for; undefined where another provider helps, or none. */
export function openaiPathOf({ ai_resource }: Settings): string | undefined {
  return ai_resource?.provider === "openai" ? ai_resource.path : undefined;
}

/** What newer clients ask for, whichever way it was settled. */
export function aiConfigOf({ ai_config, ai_resource }: Settings): AiConfig | undefined {
  if (ai_config || !ai_resource) return ai_config;
  return { providers: { [ai_resource.provider]: { resource_path: ai_resource.path, models: [] } } };
}

export const editCopilotConfig = operation({
  name: "editCopilotConfig",
  method: "POST",
  path: `${base}/edit_copilot_config`,
  access: "admin",
  summary: "Settle which AI provider helps to write code",
  body: CopilotConfig,
  responds: text,
  audit: edits("edit_copilot_config"),
  run: async (ctx, { workspace, body }) => {
    const ai_config = body.providers ? AiConfig.parse(body) : undefined;
    const given = body.ai_resource ?? (ai_config && defaultOf(ai_config));
    const path = body.openai_resource_path || undefined;
    const ai_resource = given ?? (path === undefined ? undefined : { path, provider: "openai" as const });
    const code_completion_enabled = body.code_completion_enabled ?? Boolean(body.code_completion_model);
    if (ai_resource) await requireResource(ctx, fieldOf(body), ai_resource.path);
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
  summary: "Say whether an AI provider helps to write code, and which",
  responds: responds.json(
    z.object({
      ai_provider: z.string(),
      exists_ai_resource: z.boolean(),
      code_completion_enabled: z.boolean(),
      /** Whether that is the provider which existing clients know alone. */
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
      exists_openai_resource_path: openaiPathOf(settings) !== undefined,
      ...aiConfigOf(settings),
    };
  },
});

export const copilotOperations: Operation[] = [editCopilotConfig, getCopilotInfo];
