import { createUser } from "../../src/features/users/operations.ts";
import { type CommonOptions, examples, leaf, noun, withClient } from "../command.ts";
import { note, printJson } from "../terminal/output.ts";
import { askFor } from "../terminal/prompts.ts";

interface CreateOptions extends CommonOptions {
  email?: string;
  password?: string;
  superAdmin?: boolean;
  name?: string;
  username?: string;
}

const create = leaf("create", "create a user who logs in with a password")
  .option("--email <email>", "e-mail, which is what the user logs in with")
  .option(
    "--password <password>",
    "password (asked for on a terminal, so that it need not stand in a history)",
  )
  .option("--super-admin", "may do everything on the whole instance")
  .option("--name <name>", "full name")
  .option("--username <username>", "name in workspaces, such as u/<username>/…")
  .addHelpText("after", examples("svc user create --email ann@example.org --super-admin"))
  .action(async (options: CreateOptions) => {
    const email = await askFor(options.email, { message: "E-mail", flag: "--email" });
    const password = await askFor(options.password, {
      message: "Password",
      flag: "--password",
      secret: true,
    });
    const body = {
      email,
      password,
      super_admin: options.superAdmin ?? false,
      name: options.name,
      username: options.username,
    };
    await withClient(options, (client) => client.call(createUser, { body }));
    if (options.json) printJson({ email, super_admin: body.super_admin });
    else note(`created ${body.super_admin ? "super admin" : "user"} ${email}`);
  });

export default noun("user", "create users", create);
