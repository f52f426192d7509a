/** Roles of workspace members. */
export type Role = "admin" | "developer" | "operator";

export const ROLES: { value: Role; label: string; meaning: string }[] = [
  { value: "admin", label: "Admin", meaning: "May do everything in this workspace" },
  { value: "developer", label: "Developer", meaning: "Writes scripts and flows, and runs them" },
  { value: "operator", label: "Operator", meaning: "Runs what others wrote" },
];

interface Flags {
  is_admin: boolean;
  operator: boolean;
}

export const getRole = ({ is_admin, operator }: Flags): Role =>
  is_admin ? "admin" : operator ? "operator" : "developer";

export const toRoleFlags = (role: Role): Flags => ({
  is_admin: role === "admin",
  operator: role === "operator",
});

export const getRoleLabel = (role: Role): string => ROLES.find(({ value }) => value === role)!.label;
