// A typed webhook: the schema of its arguments is read from this signature.
type Item = { sku: string; price: number; quantity?: number };

export async function main(customer: string, items: Item[], currency: "EUR" | "USD" = "EUR") {
  const total = items.reduce((sum, item) => sum + item.price * (item.quantity ?? 1), 0);
  console.log(`${customer} orders ${items.length} items`);
  return { customer, total: Number(total.toFixed(2)), currency };
}
