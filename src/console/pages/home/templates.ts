/** Script templates for empty workspaces. Each runs unchanged. */

export interface Template {
  name: string;
  summary: string;
  about: string;
  language: "bun" | "python3" | "bash";
  content: string;
  /** JSON Schema of the arguments. */
  schema: Record<string, unknown>;
}

const text = (description: string, initial: string) => ({ type: "string", description, default: initial });

export const TEMPLATES: Template[] = [
  {
    name: "hello",
    summary: "Greet somebody",
    about: "TypeScript: an argument goes in, a result comes out, a line is logged.",
    language: "bun",
    content: `export async function main(name: string = "world") {
  console.log(\`greeting \${name}\`);
  return { greeting: \`Hello, \${name}!\`, at: new Date() };
}
`,
    schema: {
      type: "object",
      properties: { name: text("Who is greeted", "world") },
      required: [],
    },
  },
  {
    name: "figures",
    summary: "Sum up figures",
    about: "Python: a list of numbers becomes a table that can be sorted and saved.",
    language: "python3",
    content: `def main(numbers: list[float] = [3, 1, 4, 1, 5]):
    print(f"{len(numbers)} numbers")
    return [
        {"figure": "sum", "value": sum(numbers)},
        {"figure": "mean", "value": sum(numbers) / len(numbers)},
        {"figure": "largest", "value": max(numbers)},
    ]
`,
    schema: {
      type: "object",
      properties: { numbers: { type: "array", items: { type: "number" }, default: [3, 1, 4, 1, 5] } },
      required: [],
    },
  },
  {
    name: "look",
    summary: "Look at the machine",
    about: "Bash: what a script sees of the machine that it runs on.",
    language: "bash",
    content: `greeting="\${1:-Hello}"
echo "$greeting from $(uname -n)"
df -h . | tail -1
`,
    schema: {
      type: "object",
      properties: { greeting: text("What is said first", "Hello") },
      required: [],
    },
  },
];
