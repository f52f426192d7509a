/** The languages of scripts, by the names that people know. */
import type { Script } from "../../api/interface.d.ts";

export type Language = Script["language"];

export const LANGUAGES: { value: Language; label: string }[] = [
  { value: "bun", label: "TypeScript" },
  { value: "python3", label: "Python" },
  { value: "bash", label: "Bash" },
  { value: "postgresql", label: "PostgreSQL" },
  { value: "mysql", label: "MySQL" },
  { value: "sqlite", label: "SQLite" },
  { value: "graphql", label: "GraphQL" },
  { value: "nativets", label: "TypeScript, fetch only" },
  { value: "deno", label: "Deno" },
  { value: "go", label: "Go" },
  { value: "rust", label: "Rust" },
  { value: "php", label: "PHP" },
  { value: "ruby", label: "Ruby" },
  { value: "powershell", label: "PowerShell" },
];

export const getLanguageLabel = (language: string): string =>
  LANGUAGES.find(({ value }) => value === language)?.label ?? language;
