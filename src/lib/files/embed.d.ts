/** Files that travel inside the executable as text. */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.py" {
  const text: string;
  export default text;
}
declare module "*.sh" {
  const text: string;
  export default text;
}
declare module "*.yaml" {
  const text: string;
  export default text;
}

declare module "*.service" {
  const text: string;
  export default text;
}
