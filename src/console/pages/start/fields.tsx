/** Form fields of an account. */
import { PasswordInput, TextInput } from "@mantine/core";

interface Props {
  value: string;
  change: (value: string) => void;
}

export function EmailField({ value, change }: Props) {
  return (
    <TextInput
      label="E-mail"
      type="email"
      required
      withAsterisk={false}
      autoFocus
      autoComplete="username"
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

interface NewPasswordProps extends Props {
  label: string;
  autoFocus?: boolean;
}

/** Field for a new password, as opposed to an existing one. */
export function NewPasswordField({ label, autoFocus = false, value, change }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description="At least 8 characters"
      minLength={8}
      required
      withAsterisk={false}
      autoFocus={autoFocus}
      autoComplete="new-password"
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
