import { ActionIcon, Button, createTheme, Menu, Modal, TextInput, Tooltip } from '@mantine/core';

/** The behaviour of components; their colours are in `styles/variables.css`. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } }),
    Button: Button.extend({ defaultProps: { variant: 'filled' } }),
    // Rendered in place, a menu stays inside a landmark; without the placeholder it contains only menu items (axe).
    Menu: Menu.extend({ defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } }),
    // The library would lock scrolling with a style element, which the Content-Security-Policy forbids.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        centered: true,
        transitionProps: { duration: 120 },
        // Some titles contain a long unbreakable file name.
        styles: { title: { overflowWrap: 'anywhere' } },
        // A dialog's header must not count as the page banner.
        attributes: { header: { role: 'presentation' } },
      },
    }),
    TextInput: TextInput.extend({ defaultProps: { autoComplete: 'off' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withinPortal: true } }),
  },
});
