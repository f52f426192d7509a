/** Entry point: providers around the routes. */
// First, so that requests are under way while the rest is evaluated.
import "./start.ts";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { BASE_PATH, NONCE } from "./api/base.ts";
import { queryClient } from "./api/client.ts";
import { confirmAndLeave } from "./api/leaving.ts";
import { firstPageLoaded } from "./start.ts";
import "./icon.svg";
import { App } from "./App.tsx";
import { colorScheme } from "./shell/color-scheme.ts";
import { ErrorBoundary } from "./shell/ErrorBoundary.tsx";
import { keepFocus } from "./shell/keep-focus.ts";
import { LeaveQuestion } from "./shell/LeaveQuestion.tsx";
import "./theme/styles.css";
import { theme } from "./theme/theme.ts";

// Used by the scroll lock of dialogs.
setNonce(NONCE);
keepFocus();

const root = createRoot(document.getElementById("root")!);

void firstPageLoaded.then(() =>
  root.render(
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorScheme}
      getStyleNonce={() => NONCE}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" limit={4} />
        <ErrorBoundary>
          <Router
            base={BASE_PATH.slice(0, -1)}
            aroundNav={(go, address, options) => confirmAndLeave(address, () => go(address, options))}
          >
            <App />
            <LeaveQuestion />
          </Router>
        </ErrorBoundary>
      </QueryClientProvider>
    </MantineProvider>,
  ),
);
