import '../styles/index.ts';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { guardDrops } from '../uploads/drops.ts';
import { queryClient, router } from './app.ts';
import { theme } from './theme.ts';
import { surviveTranslation } from './translated-page.ts';

guardDrops();
surviveTranslation();

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    {/* The Content-Security-Policy forbids style elements, so the variables come from the style sheets. */}
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      {/* Notifications are at the top, because at the bottom they would cover the uploads. */}
      <Notifications position="top-center" />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
