import type * as acls from "../../../src/features/accounts/acls/operations.ts";
import type * as admin from "../../../src/features/accounts/admin/operations.ts";
import type * as own from "../../../src/features/accounts/admin/own-operations.ts";
import type * as folders from "../../../src/features/accounts/folders/operations.ts";
import type * as groups from "../../../src/features/accounts/groups/operations.ts";
import type * as autoInvite from "../../../src/features/accounts/members/joining/auto-invite.ts";
import type * as membership from "../../../src/features/accounts/members/joining/membership-operations.ts";
import type * as member from "../../../src/features/accounts/members/member-operations.ts";
import type * as renaming from "../../../src/features/accounts/renaming/operations.ts";
import type * as session from "../../../src/features/accounts/sessions/session-operations.ts";
import type * as tokens from "../../../src/features/accounts/tokens/operations.ts";
import { remote } from "../remote-operation.ts";

export const addAcl = remote<typeof acls.addAcl>("POST", "/w/{workspace}/acls/add/{kind}/{path}", "text");
export const removeAcl = remote<typeof acls.removeAcl>(
  "POST",
  "/w/{workspace}/acls/remove/{kind}/{path}",
  "text",
);

export const createUser = remote<typeof admin.createUser>("POST", "/users/create", "text");
export const deleteAccount = remote<typeof admin.deleteAccount>("DELETE", "/users/delete/{email}", "text");
export const getUsernameInfo = remote<typeof admin.getUsernameInfo>(
  "GET",
  "/users/username_info/{email}",
  "json",
);
export const listAccounts = remote<typeof admin.listAccounts>("GET", "/users/list_as_super_admin", "json");
export const setLoginType = remote<typeof admin.setLoginType>("POST", "/users/set_login_type/{user}", "raw");
export const setPasswordOf = remote<typeof admin.setPasswordOf>(
  "POST",
  "/users/set_password_of/{user}",
  "raw",
);
export const updateAccount = remote<typeof admin.updateAccount>("POST", "/users/update/{email}", "text");

export const setPassword = remote<typeof own.setPassword>("POST", "/users/setpassword", "raw");
export const globalWhoami = remote<typeof own.globalWhoami>("GET", "/users/whoami", "json");
export const acceptOwnInvite = remote<typeof own.acceptOwnInvite>("POST", "/users/accept_invite", "text");
export const declineOwnInvite = remote<typeof own.declineOwnInvite>("POST", "/users/decline_invite", "text");
export const listOwnInvites = remote<typeof own.listOwnInvites>("GET", "/users/list_invites", "json");

export const addFolderOwner = remote<typeof folders.addFolderOwner>(
  "POST",
  "/w/{workspace}/folders/addowner/{name}",
  "text",
);
export const createFolder = remote<typeof folders.createFolder>(
  "POST",
  "/w/{workspace}/folders/create",
  "text",
);
export const deleteFolder = remote<typeof folders.deleteFolder>(
  "DELETE",
  "/w/{workspace}/folders/delete/{name}",
  "text",
);
export const getFolder = remote<typeof folders.getFolder>("GET", "/w/{workspace}/folders/get/{name}", "json");
export const listFolders = remote<typeof folders.listFolders>("GET", "/w/{workspace}/folders/list", "json");
export const removeFolderOwner = remote<typeof folders.removeFolderOwner>(
  "POST",
  "/w/{workspace}/folders/removeowner/{name}",
  "text",
);
export const existsFolder = remote<typeof folders.existsFolder>(
  "GET",
  "/w/{workspace}/folders/exists/{name}",
  "json",
);
export const updateFolder = remote<typeof folders.updateFolder>(
  "POST",
  "/w/{workspace}/folders/update/{name}",
  "text",
);

export const addUserToGroup = remote<typeof groups.addUserToGroup>(
  "POST",
  "/w/{workspace}/groups/adduser/{name}",
  "text",
);
export const createGroup = remote<typeof groups.createGroup>("POST", "/w/{workspace}/groups/create", "text");
export const deleteGroup = remote<typeof groups.deleteGroup>(
  "DELETE",
  "/w/{workspace}/groups/delete/{name}",
  "text",
);
export const getGroup = remote<typeof groups.getGroup>("GET", "/w/{workspace}/groups/get/{name}", "json");
export const listGroups = remote<typeof groups.listGroups>("GET", "/w/{workspace}/groups/list", "json");
export const removeUserFromGroup = remote<typeof groups.removeUserFromGroup>(
  "POST",
  "/w/{workspace}/groups/removeuser/{name}",
  "text",
);
export const updateGroup = remote<typeof groups.updateGroup>(
  "POST",
  "/w/{workspace}/groups/update/{name}",
  "text",
);

export const editAutoInviteOperation = remote<typeof autoInvite.editAutoInviteOperation>(
  "POST",
  "/w/{workspace}/workspaces/edit_auto_invite",
  "text",
);

export const addUser = remote<typeof membership.addUser>(
  "POST",
  "/w/{workspace}/workspaces/add_user",
  "text",
);
export const deleteInvite = remote<typeof membership.deleteInvite>(
  "POST",
  "/w/{workspace}/workspaces/delete_invite",
  "text",
);
export const inviteUser = remote<typeof membership.inviteUser>(
  "POST",
  "/w/{workspace}/workspaces/invite_user",
  "text",
);
export const leaveWorkspace = remote<typeof membership.leaveWorkspace>(
  "POST",
  "/w/{workspace}/workspaces/leave",
  "text",
);
export const listPendingInvites = remote<typeof membership.listPendingInvites>(
  "GET",
  "/w/{workspace}/workspaces/list_pending_invites",
  "json",
);

export const deleteMember = remote<typeof member.deleteMember>(
  "DELETE",
  "/w/{workspace}/users/delete/{username}",
  "text",
);

export const renameUserOperation = remote<typeof renaming.renameUserOperation>(
  "POST",
  "/users/rename/{email}",
  "text",
);

export const logout = remote<typeof session.logout>("POST", "/auth/logout", "raw");
export const login = remote<typeof session.login>("POST", "/auth/login", "raw");

export const createToken = remote<typeof tokens.createToken>("POST", "/users/tokens/create", "text");
export const createTokenFor = remote<typeof tokens.createTokenFor>(
  "POST",
  "/users/tokens/impersonate",
  "text",
);
export const deleteToken = remote<typeof tokens.deleteToken>(
  "DELETE",
  "/users/tokens/delete/{token_prefix}",
  "text",
);
export const listTokens = remote<typeof tokens.listTokens>("GET", "/users/tokens/list", "json");
