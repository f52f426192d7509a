/** Templates of flows for common tasks of a team. */
import { createCodeStep, createExpression, createInputSchema, type Template } from "./template.ts";

export const REPORT: Template = {
  id: "report",
  label: "A nightly report",
  about: "Collects, sums up and writes a report: add a schedule to it",
  flow: {
    summary: "Nightly report",
    description: "",
    schema: createInputSchema(
      { day: { type: "string", description: "Empty for yesterday", default: "" } },
      [],
    ),
    value: {
      modules: [
        createCodeStep(
          "a",
          "Collect the orders",
          `export async function main(day = "") {
  const date = day || new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  // Replace this by a query of your database, or a call of your shop.
  return { date, orders: [{ id: 1, total: 40 }, { id: 2, total: 60 }] };
}
`,
          { day: createExpression("flow_input.day") },
        ),
        createCodeStep(
          "b",
          "Sum up",
          `export async function main(date: string, orders: { total: number }[]) {
  return { date, count: orders.length, total: orders.reduce((sum, { total }) => sum + total, 0) };
}
`,
          { date: createExpression("results.a.date"), orders: createExpression("results.a.orders") },
        ),
        createCodeStep(
          "c",
          "Write the report",
          `export async function main(date: string, count: number, total: number) {
  return { render_all: [{ md: \`# Orders of \${date}\\n\\n\${count} orders, \${total} in total\` }] };
}
`,
          {
            date: createExpression("results.b.date"),
            count: createExpression("results.b.count"),
            total: createExpression("results.b.total"),
          },
        ),
      ],
    },
  },
};

export const APPROVAL: Template = {
  id: "approval",
  label: "A refund with an approval",
  about: "Large amounts wait until somebody approves, with a form",
  flow: {
    summary: "Refund an order",
    description: "",
    schema: createInputSchema({
      order: { type: "integer", description: "Number of the order" },
      amount: { type: "number", description: "To pay back" },
    }),
    value: {
      modules: [
        {
          id: "a",
          summary: "Large or small",
          value: {
            type: "branchone",
            branches: [
              {
                summary: "100 or more",
                expr: "flow_input.amount >= 100",
                modules: [
                  {
                    id: "b",
                    summary: "Ask for approval",
                    value: { type: "identity" },
                    suspend: {
                      required_events: 1,
                      timeout: 86_400,
                      resume_form: {
                        schema: createInputSchema(
                          { note: { type: "string", description: "For the customer" } },
                          [],
                        ),
                      },
                    },
                  },
                  createCodeStep(
                    "c",
                    "Note the approval",
                    `export async function main(approval: { note?: string } = {}) {
  return { approved: true, note: approval?.note ?? "" };
}
`,
                    { approval: createExpression("resume") },
                  ),
                ],
              },
            ],
            default: [],
          },
        },
        createCodeStep(
          "d",
          "Pay back",
          `export async function main(order: number, amount: number) {
  // Replace this by a call of your payment provider.
  return { order, refunded: amount };
}
`,
          { order: createExpression("flow_input.order"), amount: createExpression("flow_input.amount") },
        ),
      ],
    },
  },
};

export const FAN_OUT: Template = {
  id: "fan-out",
  label: "A list, item by item, with retries",
  about: "Runs a step for each item, some side by side; failures do not stop the others",
  flow: {
    summary: "Work through a list",
    description: "",
    schema: createInputSchema(
      {
        items: {
          type: "array",
          items: { type: "string" },
          description: "One run for each",
          default: ["a", "b", "c"],
        },
      },
      [],
    ),
    value: {
      modules: [
        {
          id: "a",
          summary: "Each item",
          value: {
            type: "forloopflow",
            iterator: createExpression("flow_input.items ?? ['a', 'b', 'c']"),
            skip_failures: true,
            parallel: true,
            parallelism: 4,
            modules: [
              createCodeStep(
                "b",
                "Work on the item",
                `export async function main(item: string, number: number) {
  return { item, number, done: true };
}
`,
                {
                  item: createExpression("flow_input.iter.value"),
                  number: createExpression("flow_input.iter.index"),
                },
                { retry: { constant: { attempts: 2, seconds: 5 } } },
              ),
            ],
          },
        },
        createCodeStep(
          "c",
          "Count",
          `export async function main(results: ({ done?: boolean } | null)[]) {
  return { done: results.filter((each) => each?.done).length, failed: results.filter((each) => !each?.done).length };
}
`,
          { results: createExpression("results.a") },
        ),
      ],
    },
  },
};
