/** Mantine theme: neutral greys, one accent colour, component defaults. */
import {
  Anchor,
  Badge,
  Button,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  Menu,
  Modal,
  Notification,
  Paper,
  PasswordInput,
  Table,
  Text,
  Tooltip,
} from "@mantine/core";

const ink: MantineColorsTuple = [
  "#eef1fb",
  "#dbe1f3",
  "#b5c1e6",
  "#8b9fda",
  "#8097dd",
  "#5170c9",
  "#3f62c6",
  "#2f51af",
  "#27489d",
  "#1b3d8b",
];

const dark: MantineColorsTuple = [
  "#d3d7e0",
  "#b6bcc8",
  "#99a1b0",
  "#737c8d",
  "#3c4350",
  "#2f3540",
  "#252a33",
  "#1c2027",
  "#15181e",
  "#101217",
];

export const theme = createTheme({
  colors: { ink, dark },
  black: "#1a1f29",
  primaryColor: "ink",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", "Helvetica Neue", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, monospace',
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "1.375rem", lineHeight: "1.3" },
      h2: { fontSize: "1.0625rem" },
      h3: { fontSize: "0.9375rem" },
    },
  },
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: "hover" } }),
    Badge: Badge.extend({ defaultProps: { tt: "none" } }),
    Button: Button.extend({ defaultProps: { size: "sm" } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps: { "aria-label": "Close" } } }),
    // The first entry has the focus: the placeholder that would have it may not be in a menu.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { "aria-label": "Close" }, centered: true } }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { "aria-label": "Dismiss" }, withBorder: true },
    }),
    Paper: Paper.extend({ defaultProps: { withBorder: true, radius: "md" } }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { visibilityToggleButtonProps: { "aria-label": "Show what is typed", tabIndex: 0 } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: "xs" } }),
    Text: Text.extend({ defaultProps: { size: "sm" } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withArrow: true } }),
  },
});
