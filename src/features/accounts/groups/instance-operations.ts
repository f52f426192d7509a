/**
 * Groups of the instance. Any user may read them, and the addresses of people they know; changing and exporting them
 * requires a license.
 */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { requireLicense } from "../../tenancy/license/service.ts";
import { selectKnownUsers } from "../users/service.ts";
import * as service from "./instance-groups.ts";

const InstanceGroup = z.object({
  name: z.string(),
  summary: z.string(),
  emails: z.array(z.string()),
});

/** A group with its ids in an external user directory. */
const ExportedGroup = InstanceGroup.extend({
  id: z.string().nullish(),
  scim_display_name: z.string().nullish(),
  external_id: z.string().nullish(),
});

const GivenGroup = z.object({
  name: z.string(),
  summary: optionalField(z.string()),
  emails: optionalField(z.array(z.string())),
  id: optionalField(z.string()),
  scim_display_name: optionalField(z.string()),
  external_id: optionalField(z.string()),
});

const superAdmin = { access: "superAdmin" } as const;

const listInstanceGroups = operation({
  access: "user",
  name: "listInstanceGroups",
  method: "GET",
  path: "/groups/list",
  summary: "List the groups of the instance, with those members that the caller may know about",
  responds: responds.json(z.array(InstanceGroup)),
  run: async (ctx) => {
    const groups = await service.listInstanceGroups(ctx.app.db.read);
    const known = new Set(await selectKnownUsers(ctx, [...new Set(groups.flatMap(({ emails }) => emails))]));
    return groups.map(({ name, summary, emails }) => ({
      name,
      summary,
      emails: emails.filter((email) => known.has(email)),
    }));
  },
});

const getInstanceGroup = operation({
  access: "user",
  name: "getInstanceGroup",
  method: "GET",
  path: "/groups/get/{name}",
  summary: "Read a group of the instance, with those members that the caller may know about",
  responds: responds.json(InstanceGroup),
  run: async (ctx, { name }) => {
    const { summary, emails } = await service.getInstanceGroup(ctx.app.db.read, name);
    return { name, summary, emails: await selectKnownUsers(ctx, emails) };
  },
});

const createInstanceGroup = operation({
  ...superAdmin,
  name: "createInstanceGroup",
  method: "POST",
  path: "/groups/create",
  summary:
    "Create a group of the instance: its members are in the group of that name in all their workspaces",
  body: z.object({ name: z.string(), summary: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await requireLicense(ctx.app);
    await service.createInstanceGroup(ctx, body);
    return `group ${body.name} of the instance created`;
  },
});

const updateInstanceGroup = operation({
  ...superAdmin,
  name: "updateInstanceGroup",
  method: "POST",
  path: "/groups/update/{name}",
  summary: "Set the summary of a group of the instance",
  body: z.object({ summary: optionalField(z.string()), new_summary: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.update", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await requireLicense(ctx.app);
    await service.updateInstanceGroup(ctx, name, body.summary ?? body.new_summary);
    return `group ${name} of the instance updated`;
  },
});

const deleteInstanceGroup = operation({
  ...superAdmin,
  name: "deleteInstanceGroup",
  method: "DELETE",
  path: "/groups/delete/{name}",
  summary: "Delete a group of the instance",
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.delete", action_kind: "Delete" },
  run: async (ctx, { name }) => {
    await requireLicense(ctx.app);
    await service.deleteInstanceGroup(ctx, name);
    return `group ${name} of the instance deleted`;
  },
});

const Email = z.object({ email: z.string() });

const addUserToInstanceGroup = operation({
  ...superAdmin,
  name: "addUserToInstanceGroup",
  method: "POST",
  path: "/groups/adduser/{name}",
  summary: "Add a user to a group of the instance",
  body: Email,
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.adduser", action_kind: "Update" },
  run: async (ctx, { name, body: { email } }) => {
    await requireLicense(ctx.app);
    await service.addUserToInstanceGroup(ctx, name, email);
    return `added ${email} to group ${name} of the instance`;
  },
});

const removeUserFromInstanceGroup = operation({
  ...superAdmin,
  name: "removeUserFromInstanceGroup",
  method: "POST",
  path: "/groups/removeuser/{name}",
  summary: "Remove a user from a group of the instance",
  body: Email,
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.removeuser", action_kind: "Update" },
  run: async (ctx, { name, body: { email } }) => {
    await requireLicense(ctx.app);
    await service.removeUserFromInstanceGroup(ctx, name, email);
    return `removed ${email} from group ${name} of the instance`;
  },
});

const exportInstanceGroups = operation({
  ...superAdmin,
  name: "exportInstanceGroups",
  method: "GET",
  path: "/groups/export",
  summary: "Export all groups of the instance, to import them elsewhere",
  responds: responds.json(z.array(ExportedGroup)),
  run: async (ctx) => {
    await requireLicense(ctx.app);
    return service.listInstanceGroups(ctx.app.db.read);
  },
});

const overwriteInstanceGroups = operation({
  ...superAdmin,
  name: "overwriteInstanceGroups",
  method: "POST",
  path: "/groups/overwrite",
  summary: "Replace all groups of the instance by exported ones",
  body: z.array(GivenGroup).max(10_000),
  responds: responds.text("confirmation"),
  audit: { operation: "igroup.overwrite", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await requireLicense(ctx.app);
    await service.overwriteInstanceGroups(ctx, body);
    return `there are ${body.length} groups of the instance now`;
  },
});

export const instanceGroupOperations: Operation[] = [
  listInstanceGroups,
  getInstanceGroup,
  createInstanceGroup,
  updateInstanceGroup,
  deleteInstanceGroup,
  addUserToInstanceGroup,
  removeUserFromInstanceGroup,
  exportInstanceGroups,
  overwriteInstanceGroups,
];
